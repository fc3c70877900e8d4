import { dayMs } from '../../platform/time.ts';

/** Partitions hold a week each, from Monday 00:00 UTC. */
const weekMs = 7 * dayMs;

/** 5 January 1970, the first Monday of Unix time. */
const firstMondayMs = 4 * dayMs;

/** A half-open range of time, in milliseconds since the epoch. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The week of an instant, or `weeksLater`. The first one is the four days before the first Monday. */
export function weekOf(atMs: number, weeksLater = 0): TimeRange {
  const week = Math.floor((atMs - firstMondayMs) / weekMs) + weeksLater;
  // A UUIDv7 cannot encode a time before the epoch.
  return { fromMs: Math.max(0, firstMondayMs + week * weekMs), toMs: firstMondayMs + (week + 1) * weekMs };
}

/** The parts of a range that no other range covers, in order. */
export function uncovered(range: TimeRange, covered: readonly TimeRange[]): TimeRange[] {
  const gaps: TimeRange[] = [];
  let fromMs = range.fromMs;
  for (const other of covered.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (other.toMs <= fromMs || other.fromMs >= range.toMs) continue;
    if (other.fromMs > fromMs) gaps.push({ fromMs, toMs: other.fromMs });
    fromMs = other.toMs;
  }
  if (fromMs < range.toMs) gaps.push({ fromMs, toMs: range.toMs });
  return gaps;
}

/** The smallest UUIDv7 of a millisecond: every UUIDv7 of this or a later one is greater. */
export function boundOf(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export function millisecondOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** `20261123`. */
export function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '');
}
