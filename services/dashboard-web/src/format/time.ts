/** A time zone of `Intl`, such as `Europe/Zurich`; undefined is the browser's. */
export type Zone = string | undefined;

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

let shownZone: Zone;

/** All times are of this zone, unless another is named. What is drawn changes as `useZone` says. */
export function showTimesIn(zone: Zone): void {
  shownZone = zone;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** A day without a change of the clock. */
export const dayMs = 24 * hourMs;

/** Times beyond this are no dates for JavaScript. */
const dateMsMax = 8.64e15;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
    formats.set(key, format);
  }
  return format;
}

function isDate(ms: number): boolean {
  return Math.abs(ms) <= dateMsMax;
}

/** `2026-11-21 14:03:09.120` */
export function formatTime(ms: number, zone = shownZone): string {
  if (!isDate(ms)) return `${ms} ms`;
  return `${formatDay(ms, zone)} ${formatClock(ms, zone)}`;
}

/** `2026-11-21 14:03:09` */
export function formatToSecond(ms: number, zone = shownZone): string {
  return formatTime(ms, zone).slice(0, -4);
}

/** `2026-11-21 14:03` */
export function formatToMinute(ms: number, zone = shownZone): string {
  return formatTime(ms, zone).slice(0, 16);
}

/** `14:03:09.120` */
export function formatClock(ms: number, zone = shownZone): string {
  if (!isDate(ms)) return `${ms} ms`;
  return formatIn(zone, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  }).format(ms);
}

/** `2026-11-21` */
export function formatDay(ms: number, zone = shownZone): string {
  if (!isDate(ms)) return `${ms} ms`;
  const parts = formatIn(zone, { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(ms);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

/** `21 Nov, 14:03` */
export function formatMinute(ms: number, zone = shownZone): string {
  if (!isDate(ms)) return `${ms} ms`;
  return formatIn(zone, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(ms);
}

/** Longer ranges show years, in milliseconds: the same day and month may occur in two years. */
const yearsMsMin = 300 * dayMs;

/** Ticks of longer ranges are named by day. */
export const dayTicksMsMin = 2 * dayMs;

/** `14:03`, `21 Nov` in ranges longer than two days, `Nov 2026` in ranges of about a year. */
export function formatTick(ms: number, rangeMs: number, zone = shownZone): string {
  if (rangeMs > yearsMsMin) return formatIn(zone, { month: 'short', year: 'numeric' }).format(ms);
  if (rangeMs > dayTicksMsMin) return formatIn(zone, { day: 'numeric', month: 'short' }).format(ms);
  return formatIn(zone, { hour: '2-digit', minute: '2-digit' }).format(ms);
}

/** An end of a range, or of a bar in it: `21 Nov, 14:03`, or `2026-11-21` where the range is about a year. */
export function formatEnd(ms: number, rangeMs: number, zone = shownZone): string {
  return rangeMs > yearsMsMin ? formatDay(ms, zone) : formatMinute(ms, zone);
}

/** `14:03:09` today, `21 Nov, 14:03` before, `2025-11-21` long before. */
export function formatInCard(ms: number, nowMs: number, zone = shownZone): string {
  if (formatDay(ms, zone) === formatDay(nowMs, zone)) return formatClock(ms, zone).slice(0, 8);
  return formatEnd(ms, Math.abs(nowMs - ms), zone);
}

/** `Europe/Zurich (GMT+1)`, by default of now. */
export function nameZone(zone = shownZone, atMs = Date.now()): string {
  const name = zone ?? browserZone();
  const parts = formatIn(name, { timeZoneName: 'shortOffset' }).formatToParts(atMs);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value;
  return offset === undefined || offset === name ? name : `${name} (${offset})`;
}

/** The clock of a zone at a time, as if it were UTC: its fields are those that the zone shows. */
export function localTime(ms: number, zone = shownZone): number {
  const parts = formatIn(zone, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  const days = Date.UTC(part('year'), part('month') - 1, part('day'));
  return days + part('hour') * hourMs + part('minute') * minuteMs + part('second') * 1_000;
}

/** The time when the zone's clock shows `local`. Of a time shown twice, or skipped, one beside the change. */
export function fromLocalTime(local: number, zone = shownZone): number {
  // The difference between zone and UTC at about that time, and then at the time that it leads to.
  const near = local - (localTime(local, zone) - local);
  return local - (localTime(near, zone) - near);
}

export function startOfDay(ms: number, zone = shownZone): number {
  return fromLocalTime(Math.floor(localTime(ms, zone) / dayMs) * dayMs, zone);
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** `3 min. ago` */
export function formatAgo(ms: number, nowMs: number): string {
  const distance = ms - nowMs;
  for (const [unit, unitMs] of units) {
    if (Math.abs(distance) >= unitMs) return relative.format(Math.trunc(distance / unitMs), unit);
  }
  return 'now';
}
