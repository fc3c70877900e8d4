import { dayMs, fromLocalTime, hourMs, localTime, minuteMs, type Zone } from '../format/time.ts';

/** The number of ticks that fit. */
const ticksMax = 7;

/** Distances between ticks, in milliseconds. In ranges that name ticks by day they are whole days. */
const stepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 4, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 3, 7, 14, 30, 61, 91, 182, 365, 730].map((days) => days * dayMs),
];

/** Round times of a zone within a range, in order: starts of days or hours, or minutes that people expect on an axis. */
export function roundTicks(fromMs: number, toMs: number, zone: Zone, stepMsMin = 0): number[] {
  const fitting = (stepMs: number) => stepMs >= stepMsMin && (toMs - fromMs) / stepMs <= ticksMax;
  const stepMs = stepsMs.find(fitting);
  const ticks: number[] = [];
  if (stepMs === undefined) return ticks;
  for (let local = Math.ceil(localTime(fromMs, zone) / stepMs) * stepMs; ticks.length < ticksMax; ) {
    const tick = fromLocalTime(local, zone);
    if (!(tick < toMs)) break;
    if (tick >= fromMs) ticks.push(tick);
    local += stepMs;
  }
  return ticks;
}
