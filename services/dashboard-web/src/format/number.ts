import { dayMs, hourMs, minuteMs } from './time.ts';

const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** `12,345` */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** `1 event`, `12,345 events` */
export function formatCounted(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `12.3K`; a number below ten thousand as it is, since `1K` may be 1,007. */
export function formatCompact(value: number): string {
  return Math.abs(value) < 10_000 ? whole.format(Math.round(value * 10) / 10) : compact.format(value);
}

/** `4.2%` */
export function formatShare(share: number): string {
  return percent.format(share);
}

const money = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 4,
});

/** `$1.23`, `$0.00042` */
export function formatMoney(dollars: number): string {
  return money.format(dollars);
}

/** `1.4 MiB`: the units of the limits in docs/api.md and docs/configuration.md. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(bytes < 10 * 1024 ? 1 : 0)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** `0.4 ms`, `842 ms`, `1.25 s`, `3 m 05 s`, `6 d 9 h`. */
export function formatDuration(ms: number): string {
  const size = Math.abs(ms);
  if (size >= dayMs) return `${whole.format(Math.trunc(ms / dayMs))} d ${Math.trunc((size / hourMs) % 24)} h`;
  if (size >= hourMs)
    return `${whole.format(Math.trunc(ms / hourMs))} h ${pad(Math.trunc((size / minuteMs) % 60))} m`;
  if (size >= minuteMs) return `${Math.trunc(ms / minuteMs)} m ${pad(Math.trunc((size / 1_000) % 60))} s`;
  if (size >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (size >= 1_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (size >= 10 || Number.isInteger(ms)) return `${Math.round(ms)} ms`;
  return `${ms.toFixed(1)} ms`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
