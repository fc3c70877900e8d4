import { rollupSpansHours } from '../../../lib/event/limits.ts';

/** Statistics that are added up for one bucket: of minutes, or of a roll-up. */
export interface StatRange {
  /** The bucket's number, from 0. */
  readonly bucket: number;
  /** Hours of a roll-up; 0 for minutes. */
  readonly spanHours: number;
  /** In minutes or hours since the epoch. `to` is excluded. */
  readonly from: number;
  readonly to: number;
}

const minutesPerHour = 60;
/** The longest first: the last one is a single minute. */
const spans = [...rollupSpansHours.toSorted((a, b) => b - a).map((hours) => hours * minutesPerHour), 1];

/**
 * The ranges of statistics that cover each bucket exactly, by as few rows as there are: most of a day by roll-ups of six
 * hours, the rest by those of an hour, and minutes only where a bucket begins in the middle of an hour.
 *
 * @param boundaries whole minutes in milliseconds, ascending: bucket n is between the n-th and the next one.
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

/** Yields spans of minutes with their ranges, in minutes. */
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
