import { LatencySketch } from '../../../event/latency-sketch.ts';
import { CostSum } from '../../../store/prices/cost-sum.ts';
import { visitInSlices } from '../slices.ts';
import { type AlertCondition, judge, type Measured } from './rule.ts';

/** Sums of the events that started in one step of time. */
export interface Bucket {
  readonly events: number;
  readonly errors: number;
  readonly tokens: number;
  /** Undefined when not needed. */
  readonly cost?: CostSum | undefined;
  /** The durations; undefined when they are not needed. */
  readonly latency?: LatencySketch | undefined;
}

/** Contiguous buckets. Those without events are undefined. */
export interface Series {
  readonly startMs: number;
  readonly stepMs: number;
  readonly buckets: readonly (Bucket | undefined)[];
}

export type Phase = 'ok' | 'pending' | 'firing' | 'clearing';

/** A phase, and when it began. */
export interface AlertState {
  readonly phase: Phase;
  readonly sinceMs: number;
}

export interface Transition extends Measured {
  readonly change: 'fired' | 'resolved';
  /** The end of the window. */
  readonly atMs: number;
}

/** The state after the last window, and what was measured in that one. */
export interface Evaluation extends Measured {
  readonly state: AlertState;
  readonly transitions: readonly Transition[];
}

/** Evaluates windows after `afterMs` from state and statistics alone: those that an outage missed, too. */
export async function evaluate(
  rule: AlertCondition,
  state: AlertState,
  { series, afterMs }: { series: Series; afterMs: number },
): Promise<Evaluation> {
  const { startMs, stepMs, buckets } = series;
  const length = Math.round((rule.windowMinutes * 60_000) / stepMs);
  const transitions: Transition[] = [];
  let measured: Measured = { value: null };
  let next = state;
  const starts = Array.from({ length: Math.max(0, buckets.length - length + 1) }, (_, start) => start);
  await visitInSlices(starts, (start) => {
    const end = start + length;
    const atMs = startMs + end * stepMs;
    if (atMs <= afterMs) return;
    measured = measure(rule, buckets.slice(start, end));
    const step = advance(rule, next, { ...measured, atMs });
    next = step.state;
    if (step.change !== undefined) transitions.push({ change: step.change, atMs, ...measured });
  });
  return { state: next, transitions, ...measured };
}

/** The state after one more window. Fires or resolves when the condition has held for `holdMinutes`. */
export function advance(
  rule: AlertCondition,
  state: AlertState,
  { atMs, ...measured }: Measured & { atMs: number },
): { state: AlertState; change?: 'fired' | 'resolved' } {
  const verdict = judge(rule, measured);
  const isFiring = state.phase === 'firing' || state.phase === 'clearing';
  const settled: Phase = isFiring ? 'firing' : 'ok';
  if (verdict !== (isFiring ? 'cleared' : 'exceeded'))
    return { state: state.phase === settled ? state : { phase: settled, sinceMs: atMs } };
  const isWaiting = state.phase !== settled;
  const sinceMs = isWaiting ? state.sinceMs : atMs;
  if (atMs - sinceMs >= rule.holdMinutes * 60_000)
    return isFiring
      ? { state: { phase: 'ok', sinceMs: atMs }, change: 'resolved' }
      : { state: { phase: 'firing', sinceMs: atMs }, change: 'fired' };
  return { state: { phase: isFiring ? 'clearing' : 'pending', sinceMs } };
}

/** `value` is null when the window's events have none. */
export function measure(
  { kind }: Pick<AlertCondition, 'kind'>,
  window: readonly (Bucket | undefined)[],
): Measured {
  const sum = (pick: (bucket: Bucket) => number) =>
    window.reduce((total, bucket) => total + (bucket === undefined ? 0 : pick(bucket)), 0);
  switch (kind) {
    case 'error_rate': {
      const events = sum((bucket) => bucket.events);
      return { value: events === 0 ? null : (100 * sum((bucket) => bucket.errors)) / events };
    }
    case 'p95': {
      const sketch = new LatencySketch();
      for (const bucket of window) if (bucket?.latency !== undefined) sketch.merge(bucket.latency);
      return { value: sketch.quantiles([0.95])[0] ?? null };
    }
    case 'cost':
      return measureCost(window);
    case 'tokens':
      return { value: sum((bucket) => bucket.tokens) };
    case 'events':
    case 'silence':
      return { value: sum((bucket) => bucket.events) };
    case 'quota':
    case 'quarantine':
      throw new Error(`${kind} is not measured over a window`);
  }
}

/** Without tokens nothing was paid; of tokens without a price no cost is known. */
function measureCost(window: readonly (Bucket | undefined)[]): Measured {
  const sum = new CostSum();
  for (const bucket of window) if (bucket?.cost !== undefined) sum.addSum(bucket.cost);
  const { cost, bound, tokens } = sum.cost;
  const known = cost ?? (tokens === 0 ? '0' : null);
  return { value: known === null ? null : Number(known), cost: { cost: known, bound } };
}
