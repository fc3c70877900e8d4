import { durationToleranceMs } from '../../lib/limits.ts';

/** What is odd about an event's times. The contract has no rule between them, so it is shown and never refused. */
export type EventFlag = 'ends_before_start' | 'duration_mismatch';

export function flagEvent(times: {
  startTimeMs: number;
  endTimeMs: number;
  durationMs: number;
}): EventFlag[] {
  const spanMs = times.endTimeMs - times.startTimeMs;
  const flags: EventFlag[] = [];
  if (spanMs < 0) flags.push('ends_before_start');
  if (Math.abs(spanMs - times.durationMs) > durationToleranceMs) flags.push('duration_mismatch');
  return flags;
}
