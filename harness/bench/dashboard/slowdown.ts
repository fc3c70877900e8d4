import { processTreeCpuMs } from '../../system/process-stats.ts';
import type { RunningWeir } from '../../system/weir.ts';
import { measureHttpToPostgres } from '../measures.ts';
import type { Workload } from '../workload.ts';

/** What it costs to store events, with or without streams that show them. */
export interface StoringCost {
  storedPerSecond: number;
  /** Processor time of Postgres and the writer for each event stored, in microseconds: also what reading for streams takes there. */
  storingUs: number;
  /** Processor time of the dashboard API for each event stored, in microseconds. */
  showingUs: number;
}

export interface Slowdown {
  alone: StoringCost[];
  watched: StoringCost[];
}

/**
 * Stores as fast as it goes, with and without streams in turn. The rate says little on a machine with other work; the processor
 * time for an event does not depend on it.
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
    // The order changes, so that a machine that gets busier favours neither.
    for (const isAlone of pair % 2 === 0 ? [true, false] : [false, true]) {
      if (isAlone) alone.push(await measure());
      else watched.push(await withStreams(measure));
    }
  }
  return { alone, watched };
}

/** Lines for people. */
export function renderSlowdown({ alone, watched }: Slowdown, streams: number): string[] {
  const each = (costs: readonly StoringCost[], name: keyof StoringCost) =>
    costs.map((cost) => Math.round(cost[name]).toLocaleString('en')).join(', ');
  const more = (name: keyof StoringCost) =>
    `${(100 * (sum(watched, name) / sum(alone, name) - 1)).toFixed(1)} %`;
  const both = (name: keyof StoringCost) =>
    `alone ${each(alone, name)}, with ${streams} streams ${each(watched, name)}`;
  return [
    `CPU of Postgres and writer per event stored, in µs: ${both('storingUs')}: ${more('storingUs')} more, goal 5 %`,
    `CPU of dashboard-api per event stored, in µs: ${both('showingUs')}`,
    `stored/s: ${both('storedPerSecond')}: ${more('storedPerSecond')} more`,
  ];
}

function sum(costs: readonly StoringCost[], name: keyof StoringCost): number {
  return costs.reduce((total, cost) => total + cost[name], 0);
}
