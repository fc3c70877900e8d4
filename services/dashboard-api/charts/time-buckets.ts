import type { TRPCError } from '@trpc/server';
import { dayMs, hourMs, minuteMs } from '../../../platform/time.ts';
import { refusal } from '../refusal.ts';

/** Buckets of a chart: 30 days by hour, or a day by minute. */
export const chartBucketsMax = 1_500;

/** Days, weeks from Monday and months are those of the time zone: a day may have 23 or 25 hours. */
export const chartSteps = ['minute', '5minutes', 'hour', 'day', 'week', 'month'] as const;
export type ChartStep = (typeof chartSteps)[number];

export interface ChartRange {
  from: number;
  /** Excluded. */
  to: number;
  step: ChartStep;
  /** IANA name, such as Europe/Zurich. */
  timeZone: string;
}

const stepMs: Record<ChartStep, number> = {
  ...{ minute: minuteMs, '5minutes': 5 * minuteMs, hour: hourMs },
  ...{ day: dayMs, week: 7 * dayMs, month: 28 * dayMs },
};

/**
 * The starts of a chart's buckets and the end of the last one, in milliseconds since the epoch, all of them
 * whole minutes. The range is widened to whole buckets.
 * @throws TRPCError BAD_REQUEST for more than {@link chartBucketsMax} buckets, or for an empty range.
 */
export function timeBoundaries({ from, to, step, timeZone }: ChartRange): number[] {
  if (to <= from) throw badRange('to: must be later than from.');
  if ((to - from) / stepMs[step] > chartBucketsMax) {
    throw badRange(`to: the range has more than ${chartBucketsMax} buckets. Choose a longer step.`);
  }
  const boundaries = [];
  let at = floorTo(
    step,
    Temporal.Instant.fromEpochMilliseconds(Math.floor(from)).toZonedDateTimeISO(timeZone),
  );
  for (;;) {
    boundaries.push(toMinute(at.epochMilliseconds));
    if (at.epochMilliseconds >= to) return boundaries;
    at = nextOf(step, at);
  }
}

function floorTo(step: ChartStep, at: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  if (step === 'day') return at.startOfDay();
  if (step === 'week') return at.subtract({ days: at.dayOfWeek - 1 }).startOfDay();
  if (step === 'month') return at.with({ day: 1 }).startOfDay();
  const roundingIncrement = step === '5minutes' ? 5 : 1;
  const smallestUnit = step === 'hour' ? 'hour' : 'minute';
  return at.round({ smallestUnit, roundingIncrement, roundingMode: 'floor' });
}

const lengths: Record<ChartStep, Temporal.DurationLike> = {
  ...{ minute: { minutes: 1 }, '5minutes': { minutes: 5 }, hour: { hours: 1 } },
  ...{ day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } },
};

function nextOf(step: ChartStep, at: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  const later = at.add(lengths[step]);
  if (step !== 'hour') return stepMs[step] < dayMs ? later : later.startOfDay();
  // When a zone shifts its clock by half an hour, the next hour begins earlier.
  const floor = floorTo('hour', later);
  return Temporal.ZonedDateTime.compare(floor, at) > 0 ? floor : later;
}

/** Historic zone offsets have seconds, but statistics are kept by minute. */
function toMinute(ms: number): number {
  return Math.floor(ms / stepMs.minute) * stepMs.minute;
}

function badRange(message: string): TRPCError {
  return refusal('BAD_REQUEST', message);
}
