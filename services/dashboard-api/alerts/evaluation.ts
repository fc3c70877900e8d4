import { LatencySketch } from '../../../event/latency-sketch.ts';
import { visitInSlices } from '../slices.ts';
import { type AlertCondition, judge } from './rule.ts';

/** Sums of the events that started in one step of time. */
export interface Bucket {
  readonly events: number;
  readonly errors: number;
  readonly tokens: number;
  /** Dollars, of the tokens that have a price. */
  readonly cost: number;
  /** Undefined when not needed. */
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

export interface Transition {
  readonly change: 'fired' | 'resolved';
  /** The end of the window. */
  readonly atMs: number;
  readonly value: number | null;
}

export interface Evaluation {
  readonly state: AlertState;
  readonly transitions: readonly Transition[];
  /** Of the last window. */
  readonly value: number | null;
}

/**
 * Evaluates the windows that end after `afterMs`, one per step. Depends only on the state and the statistics:
 * windows that an outage missed are evaluated like others.
 */
export async function evaluate(
  rule: AlertCondition,
  state: AlertState,
  { series, afterMs }: { series: Series; afterMs: number },
): Promise<Evaluation> {
  const { startMs, stepMs, buckets } = series;
  const length = Math.round((rule.windowMinutes * 60_000) / stepMs);
  const transitions: Transition[] = [];
  let value: number | null = null;
  let next = state;
  const starts = Array.from({ length: Math.max(0, buckets.length - length + 1) }, (_, start) => start);
  await visitInSlices(starts, (start) => {
    const end = start + length;
    const atMs = startMs + end * stepMs;
    if (atMs <= afterMs) return;
    value = measure(rule, buckets.slice(start, end));
    const step = advance(rule, next, { value, atMs });
    next = step.state;
    if (step.change !== undefined) transitions.push({ change: step.change, atMs, value });
  });
  return { state: next, transitions, value };
}

/** The state after one more window. Fires or resolves when the condition has held for `holdMinutes`. */
export function advance(
  rule: AlertCondition,
  state: AlertState,
  { value, atMs }: { value: number | null; atMs: number },
): { state: AlertState; change?: 'fired' | 'resolved' } {
  const verdict = judge(rule, value);
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

/** @returns null when the window's events have no value. */
export function measure(
  { kind }: Pick<AlertCondition, 'kind'>,
  window: readonly (Bucket | undefined)[],
): number | null {
  const sum = (pick: (bucket: Bucket) => number) =>
    window.reduce((total, bucket) => total + (bucket === undefined ? 0 : pick(bucket)), 0);
  switch (kind) {
    case 'error_rate': {
      const events = sum((bucket) => bucket.events);
      return events === 0 ? null : (100 * sum((bucket) => bucket.errors)) / events;
    }
    case 'p95': {
      const sketch = new LatencySketch();
      for (const bucket of window) if (bucket?.latency !== undefined) sketch.merge(bucket.latency);
      return sketch.quantiles([0.95])[0] ?? null;
    }
    case 'cost':
      return sum((bucket) => bucket.cost);
    case 'tokens':
      return sum((bucket) => bucket.tokens);
    case 'events':
    case 'silence':
      return sum((bucket) => bucket.events);
    case 'quota':
    case 'quarantine':
      throw new Error(`${kind} is not measured over a window`);
  }
}
