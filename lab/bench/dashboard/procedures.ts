import { createLatencies } from '../../../cli/client/latencies.ts';
import { processTreeCpuMs } from '../../../harness/system/process-stats.ts';
import type { Call } from './calls.ts';

export interface CallFigure {
  readonly name: string;
  readonly goalMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of one call, which other work on the machine affects less. */
  readonly apiCpuMs: number;
  readonly postgresCpuMs: number;
}

/** The processes whose CPU time counts. */
export interface MeasuredProcesses {
  readonly apiPid: number;
  readonly postgresPid: number;
}

const times = 60;

/** Calls each procedure repeatedly, over HTTP. */
export async function measureProcedures(
  calls: readonly Call[],
  { apiPid, postgresPid }: MeasuredProcesses,
  say: (text: string) => void,
): Promise<CallFigure[]> {
  const figures: CallFigure[] = [];
  for (const { name, goalMs, run } of calls) {
    // Warm-up: prepares statements and compiles our code.
    for (let i = 0; i < 5; i++) await run();
    const latencies = createLatencies();
    const [apiMs, postgresMs] = [processTreeCpuMs(apiPid), processTreeCpuMs(postgresPid)];
    for (let i = 0; i < times; i++) {
      const startedMs = performance.now();
      await run();
      latencies.record(performance.now() - startedMs);
    }
    const [p50Ms, p99Ms] = [latencies.percentileMs(50), latencies.percentileMs(99)];
    const apiCpuMs = (processTreeCpuMs(apiPid) - apiMs) / times;
    const postgresCpuMs = (processTreeCpuMs(postgresPid) - postgresMs) / times;
    figures.push({ name, goalMs, p50Ms, p99Ms, apiCpuMs, postgresCpuMs });
    say(`${name}: p99 ${p99Ms.toFixed(1)} ms`);
  }
  return figures;
}
