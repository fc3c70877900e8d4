import type { DashboardClient } from '../../../harness/system/dashboard-client.ts';
import { residentBytes } from '../../../harness/system/process-stats.ts';
import type { Connection } from '../../../launcher/local-system.ts';

/**
 * Downloads every event of the space as CSV.
 * @returns rows a second, and the peak memory of the service meanwhile.
 */
export async function measureExport(
  { dashboardUrl, spaceId }: Pick<Connection, 'dashboardUrl' | 'spaceId'>,
  client: DashboardClient,
  pid: number,
): Promise<{ rows: number; rowsPerSecond: number; peakBytes: number }> {
  const startedMs = performance.now();
  const response = await fetch(`${dashboardUrl}/export/${spaceId}?format=csv`, {
    headers: { cookie: client.cookie() },
  });
  if (!response.ok || response.body === null)
    throw new Error(`the export was answered with ${response.status}`);
  let lines = 0;
  let peakBytes = 0;
  let lookedAtMs = 0;
  for await (const chunk of response.body) {
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) lines += 1;
    if (performance.now() - lookedAtMs < 50) continue;
    lookedAtMs = performance.now();
    peakBytes = Math.max(peakBytes, residentBytes(pid));
  }
  // The generator's values have no line break; the first line has the names of the columns.
  const rows = lines - 1;
  return { rows, rowsPerSecond: rows / ((performance.now() - startedMs) / 1_000), peakBytes };
}

const newline = 0x0a;
