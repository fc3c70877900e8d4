import type { alertRules } from '../../../store/db/schema.ts';
import type { ChartFilter } from '../charts/dimension.ts';
import { resolveMargin } from './limits.ts';

export type AlertKind = typeof alertRules.$inferSelect.kind;

/** What statistics do not have is counted one by one. */
export interface AlertFilter extends Omit<ChartFilter, 'attribute' | 'userId'> {
  readonly attributeKey?: string | undefined;
  readonly attributeValue?: string | undefined;
}

export interface AlertCondition {
  readonly kind: AlertKind;
  readonly filter: AlertFilter;
  readonly comparison: 'above' | 'below';
  /** In percent (error_rate, quota), milliseconds (p95), dollars (cost), or a number. Unused for silence. */
  readonly bound: number;
  readonly windowMinutes: number;
  /** For which the condition must hold before the alert fires, and the opposite before it resolves. */
  readonly holdMinutes: number;
}

/** Kinds whose value is a current state, not a sum over a window. */
export function isStateNow(kind: AlertKind): boolean {
  return kind === 'quota' || kind === 'quarantine';
}

/** Whether events may be counted one by one: an additional property need not be a dimension. */
export function countsEvents({ attributeKey }: AlertFilter): boolean {
  return attributeKey !== undefined;
}

export function describeFilter({ attributeKey, attributeValue, ...columns }: AlertFilter): string[] {
  const named = Object.values(columns).filter((value) => value !== undefined);
  return attributeKey === undefined ? named : [...named, `${attributeKey} = ${attributeValue}`];
}

/** Between two evaluated windows: longer ones are read from roll-ups of an hour. */
export function stepMinutesOf({ windowMinutes }: Pick<AlertCondition, 'windowMinutes'>): number {
  if (windowMinutes <= 30) return 1;
  return windowMinutes <= 360 ? 5 : 60;
}

/** Beyond the bound, clearly back, or between. Without a value, as without events, back. */
export function judge(
  { kind, comparison, bound }: AlertCondition,
  value: number | null,
): 'exceeded' | 'between' | 'cleared' {
  if (value === null) return 'cleared';
  if (kind === 'silence') return value === 0 ? 'exceeded' : 'cleared';
  const margin = isStateNow(kind) ? 0 : resolveMargin;
  if (comparison === 'above') {
    if (value > bound || (kind === 'quota' && value === bound)) return 'exceeded';
    return value <= bound * (1 - margin) ? 'cleared' : 'between';
  }
  if (value < bound) return 'exceeded';
  return value >= bound * (1 + margin) ? 'cleared' : 'between';
}
