import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { checkControlStream } from './control-checks.ts';
import { type Finding, failed, finding, findingsOf, ok, skipped, type Verdict, warning } from './finding.ts';
import { diskFreeRatioMin } from './limits.ts';
import { checkPostgres } from './postgres-checks.ts';
import { checkQueue } from './queue-checks.ts';
import { checkServices } from './service-checks.ts';

const statementTimeoutMs = 10_000;

/**
 * Checks Postgres, the queue, the services and the disk of a running system, and changes nothing.
 * @returns a finding for each check. Never throws: what cannot be reached is a finding.
 */
export async function examine(config: Config): Promise<Finding[]> {
  const parts = await Promise.all([
    examineDatabase(config),
    examineQueue(config),
    finding('disk', 'Check WEIR_DATA_DIR.', () => checkDisk(config.WEIR_DATA_DIR)),
  ]);
  return parts.flat();
}

async function examineDatabase({ DATABASE_URL: url, WEIR_DATA_DIR: dataDir }: Config): Promise<Finding[]> {
  if (url === undefined) return notStarted('postgres.reachable', 'DATABASE_URL');
  await using sql = openPostgres(url, {
    applicationName: 'weir-doctor',
    connectionsMax: 4,
    statementTimeoutMs,
  });
  // Awaited, because the pool is closed when this function returns.
  const isEmbedded = existsSync(join(dataDir, 'postgres', 'PG_VERSION'));
  return await checkPostgres(openDatabase(sql), isEmbedded ? dataDir : undefined);
}

async function examineQueue(config: Config): Promise<Finding[]> {
  const { NATS_URL: url } = config;
  const check = 'nats.reachable';
  if (url === undefined) return notStarted(check, 'NATS_URL');
  return finding(check, 'Start nats-server, or correct NATS_URL.', async () => {
    await using connection = await connectQueue(url, 'weir-doctor');
    const [queue, control, services] = await Promise.all([
      checkQueue(connection, config),
      finding('control', 'Start a writer: it creates the stream.', () => checkControlStream(connection)),
      checkServices(connection, config.API_KEY_PEPPER),
    ]);
    const reached = findingsOf({ [check]: ok(`nats-server ${connection.info?.version}`) });
    return [...reached, ...queue, ...control, ...services];
  });
}

function notStarted(check: string, variable: 'DATABASE_URL' | 'NATS_URL'): Finding[] {
  const action = `Run \`weir start\`, or set WEIR_DATA_DIR or ${variable}.`;
  return findingsOf({ [check]: failed('nothing was started in WEIR_DATA_DIR', action) });
}

async function checkDisk(directory: string): Promise<Verdict> {
  const space = await statfs(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (space === undefined) {
    const found = `${directory} is not on this machine`;
    return skipped(
      found,
      'Watch the disks of Postgres and nats-server with node_exporter (docs/operating.md).',
    );
  }
  const free = space.bavail / space.blocks;
  const found = `${Math.round(100 * free)}% of the disk of ${directory} are free`;
  if (free >= diskFreeRatioMin) return ok(found);
  return warning(found, 'See docs/operating.md, WeirDiskFilling.');
}
