import type { Input, Output } from '../../api/query.ts';
import { formatCount, formatDuration, formatMoney } from '../../format/number.ts';

export type Rule = Output<'alerts.list'>[number];
export type Condition = Omit<Input<'alerts.preview'>, 'spaceId'>;
export type Kind = Rule['kind'];

interface KindText {
  label: string;
  /** The unit of the bound; undefined without a bound. */
  unit?: string;
  bound: string;
  /** Whether it is measured over a window, of some events. */
  isWindow: boolean;
}

export const kinds: Record<Kind, KindText> = {
  error_rate: { label: 'Error rate', unit: '% of events', bound: '5', isWindow: true },
  p95: { label: 'Duration, p95', unit: 'ms', bound: '10000', isWindow: true },
  cost: { label: 'Cost', unit: 'US dollars', bound: '10', isWindow: true },
  tokens: { label: 'Tokens', unit: 'tokens', bound: '1000000', isWindow: true },
  events: { label: 'Events', unit: 'events', bound: '1000', isWindow: true },
  silence: { label: 'No events', bound: '0', isWindow: true },
  quota: { label: 'Monthly limit', unit: '% of the limit', bound: '80', isWindow: false },
  quarantine: { label: 'Quarantine', unit: 'events', bound: '0', isWindow: false },
};

export const windows = [5, 10, 15, 30, 60, 120, 360, 720, 1_440] as const;
/** The longest one of an alert by an additional property. */
export const eventWindowMax = 60;

export function formatMinutes(minutes: number): string {
  if (minutes < 60) return `${minutes} minutes`;
  return minutes === 60 ? '1 hour' : `${minutes / 60} hours`;
}

export function formatAlertValue(kind: Kind, value: number | null): string {
  if (value === null) return '–';
  if (kind === 'error_rate' || kind === 'quota') return `${Number(value.toPrecision(3))}%`;
  if (kind === 'p95') return formatDuration(value);
  return kind === 'cost' ? formatMoney(value) : formatCount(value);
}

/** `above 5% in 15 minutes, gpt-4o` */
export function describeRule({ kind, comparison, bound, windowMinutes, filter }: Rule): string {
  const { attributeKey, attributeValue, ...columns } = filter;
  const attribute = attributeKey === undefined ? [] : [`${attributeKey} = ${attributeValue}`];
  const scope = [...Object.values(columns).filter((one) => one !== undefined), ...attribute];
  const window = formatMinutes(windowMinutes);
  const condition =
    kind === 'silence'
      ? `none for ${window}`
      : `${comparison} ${formatAlertValue(kind, bound)}${kinds[kind].isWindow ? ` in ${window}` : ''}`;
  return [condition, ...scope].join(', ');
}
