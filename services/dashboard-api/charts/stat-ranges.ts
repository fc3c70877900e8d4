import { rollupSpansHours } from '../../../event/limits.ts';

/** A range of statistics rows to sum for one bucket: minutes, or spans of one roll-up. */
export interface StatRange {
  /** Index of the bucket, from 0. */
  readonly bucket: number;
  /** Length of the roll-up in hours; 0 for minutes. */
  readonly spanHours: number;
  /** In minutes or hours since the epoch; `to` is excluded. */
  readonly from: number;
  readonly to: number;
}

const minutesPerHour = 60;
/** Longest first; the last one is a single minute. */
const spans = [...rollupSpansHours.toSorted((a, b) => b - a).map((hours) => hours * minutesPerHour), 1];

/**
 * The ranges of statistics that cover each bucket exactly with the fewest rows: six-hour roll-ups for most of a day, one-hour
 * roll-ups for the rest, and minutes only where a bucket begins within an hour.
 *
 * @param boundaries whole minutes in milliseconds, ascending: bucket n lies between the n-th and the next one.
 */
export function coverBuckets(boundaries: readonly number[]): StatRange[] {
  return boundaries.slice(1).flatMap((end, bucket) => {
    const start = boundaries[bucket] ?? end;
    return [...cover(start / 60_000, end / 60_000, 0)].map(([spanMinutes, from, to]) => {
      const spanHours = spanMinutes === 1 ? 0 : spanMinutes / minutesPerHour;
      const unit = spanMinutes === 1 ? 1 : minutesPerHour;
      return { bucket, spanHours, from: from / unit, to: to / unit };
    });
  });
}

/** Yields the length of each span with its range, in minutes. */
function* cover(
  from: number,
  to: number,
  level: number,
): Generator<[span: number, from: number, to: number]> {
  const span = spans[level];
  if (from >= to || span === undefined) return;
  const first = Math.ceil(from / span) * span;
  const last = Math.floor(to / span) * span;
  if (first >= last) {
    yield* cover(from, to, level + 1);
    return;
  }
  yield* cover(from, first, level + 1);
  yield [span, first, last];
  yield* cover(last, to, level + 1);
}
