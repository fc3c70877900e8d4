import type { TRPCError } from '@trpc/server';
import { dayMs, hourMs, minuteMs } from '../../../platform/time.ts';
import { chartBucketsMax } from '../limits.ts';
import { refusal } from '../refusal.ts';

/** A calendar day in the time zone may have 23 or 25 hours. */
export type ChartStep = 'minute' | 'hour' | 'day';

export interface ChartRange {
  from: number;
  to: number;
  step: ChartStep;
  /** IANA name, such as Europe/Zurich. */
  timeZone: string;
}

const stepMs = { minute: minuteMs, hour: hourMs, day: dayMs } as const;

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
  return step === 'day' ? at.startOfDay() : at.round({ smallestUnit: step, roundingMode: 'floor' });
}

function nextOf(step: ChartStep, at: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  if (step === 'day') return at.add({ days: 1 }).startOfDay();
  if (step === 'minute') return at.add({ minutes: 1 });
  const later = at.add({ hours: 1 });
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
