import { processTreeCpuMs } from '../../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../../harness/system/weir.ts';
import { measureHttpToPostgres } from '../measures.ts';
import type { Workload } from '../workload.ts';

/** The cost of storing events, with or without live streams. */
export interface StoringCost {
  storedPerSecond: number;
  /**
   * CPU time of Postgres and the writer per stored event, in microseconds. It includes Postgres's work for
   * the streams.
   */
  storingUs: number;
  /** CPU time of the dashboard API per stored event, in microseconds. */
  showingUs: number;
}

export interface Slowdown {
  alone: StoringCost[];
  watched: StoringCost[];
}

/**
 * Stores events at full speed, with and without streams in turn. Other work on the machine distorts the rate,
 * but not the CPU time per event.
 */
export async function measureSlowdown(
  weir: RunningWeir,
  workload: Workload,
  {
    pairs,
    seconds,
    withStreams,
  }: {
    pairs: number;
    seconds: number;
    withStreams: (measure: () => Promise<StoringCost>) => Promise<StoringCost>;
  },
): Promise<Slowdown> {
  const cpuMs = (names: readonly ('postgres' | 'writer' | 'dashboard-api')[]) =>
    names.reduce((sum, name) => sum + processTreeCpuMs(weir.pidOf(name)), 0);
  const measure = async (): Promise<StoringCost> => {
    const [storing, showing] = [cpuMs(['postgres', 'writer']), cpuMs(['dashboard-api'])];
    const { storedPerSecond, events } = await measureHttpToPostgres(weir, workload, seconds);
    const perEventUs = (ms: number) => (1_000 * ms) / events;
    return {
      storedPerSecond,
      storingUs: perEventUs(cpuMs(['postgres', 'writer']) - storing),
      showingUs: perEventUs(cpuMs(['dashboard-api']) - showing),
    };
  };
  const [alone, watched]: [StoringCost[], StoringCost[]] = [[], []];
  for (let pair = 0; pair < pairs; pair++) {
    // The order alternates, so that a machine that gets busier favours neither.
    for (const isAlone of pair % 2 === 0 ? [true, false] : [false, true]) {
      if (isAlone) alone.push(await measure());
      else watched.push(await withStreams(measure));
    }
  }
  return { alone, watched };
}

/** Renders the result as lines of text. */
export function renderSlowdown({ alone, watched }: Slowdown, streams: number): string[] {
  const each = (costs: readonly StoringCost[], name: keyof StoringCost) =>
    costs.map((cost) => Math.round(cost[name]).toLocaleString('en')).join(', ');
  const more = (name: keyof StoringCost) =>
    `${(100 * (sum(watched, name) / sum(alone, name) - 1)).toFixed(1)}%`;
  const both = (name: keyof StoringCost) =>
    `alone ${each(alone, name)}, with ${streams} streams ${each(watched, name)}`;
  return [
    `CPU of Postgres and writer per event stored, in µs: ${both('storingUs')}: ${more('storingUs')} more, goal 5%`,
    `CPU of dashboard-api per event stored, in µs: ${both('showingUs')}`,
    `stored/s: ${both('storedPerSecond')}: ${more('storedPerSecond')} more`,
  ];
}

function sum(costs: readonly StoringCost[], name: keyof StoringCost): number {
  return costs.reduce((total, cost) => total + cost[name], 0);
}
