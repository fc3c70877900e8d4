import { type Registry, register } from '@prometheus-io/client';
import { startLoop } from '../background-loop.ts';
import type { Logger } from '../log.ts';
import { summaryMs } from './limits.ts';

/** Logs every `summaryMs` what counters have counted since: a service says what it did without Prometheus. */
export function logSummaries(log: Logger): AsyncDisposable {
  let last = new Map<string, number>();
  const write = async () => {
    const counts = await readCounters(register);
    const changes = Object.fromEntries(
      [...counts].flatMap(([name, count]) => {
        const change = count - (last.get(name) ?? 0);
        return change > 0 ? [[name, change]] : [];
      }),
    );
    last = counts;
    if (Object.keys(changes).length > 0) log.info({ ...changes, seconds: summaryMs / 1_000 }, 'summary');
  };
  const failure = 'counters were not read';
  return startLoop({ run: write, intervalMs: summaryMs, delayMs: summaryMs, failure }, log);
}

/** Weir's counters by short name and the values of their labels: `ingest_requests.json.accepted`. */
async function readCounters(registry: Registry): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name, type, values } of await registry.getMetricsAsJSON()) {
    // The type is a number in the library's declarations, and its name in what it returns.
    if (String(type) !== 'counter' || !name.startsWith('weir_')) continue;
    const short = name.replace(/^weir_/, '').replace(/_total$/, '');
    for (const { labels, value } of values) counts.set([short, ...Object.values(labels)].join('.'), value);
  }
  return counts;
}
