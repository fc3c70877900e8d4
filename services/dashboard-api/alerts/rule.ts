import type { alertRules } from '../../../store/db/schema.ts';
import type { ChartFilter } from '../charts/dimension.ts';
import { resolveMargin } from './limits.ts';

export type AlertKind = typeof alertRules.$inferSelect.kind;

/** Which events count. What statistics do not have is counted one by one. */
export interface AlertFilter extends Omit<ChartFilter, 'attribute' | 'userId'> {
  readonly attributeKey?: string | undefined;
  readonly attributeValue?: string | undefined;
}

/** What a rule watches. */
export interface AlertCondition {
  readonly kind: AlertKind;
  readonly filter: AlertFilter;
  readonly comparison: 'above' | 'below';
  /**
   * The unit depends on the kind: percent (error_rate, quota), milliseconds (p95), dollars (cost), or a number. For silence it is not
   * used.
   */
  readonly bound: number;
  /** The value is measured over this time. */
  readonly windowMinutes: number;
  /** The condition must hold for this time before the alert fires, and the opposite before it resolves. */
  readonly holdMinutes: number;
}

/** Kinds whose value is a current state, not a sum over a window. */
export function isStateNow(kind: AlertKind): boolean {
  return kind === 'quota' || kind === 'quarantine';
}

/** Whether events may have to be counted one by one: an additional property need not be a dimension of the space. */
export function countsEvents({ attributeKey }: AlertFilter): boolean {
  return attributeKey !== undefined;
}

/** The filter in words. */
export function describeFilter({ attributeKey, attributeValue, ...columns }: AlertFilter): string[] {
  const named = Object.values(columns).filter((value) => value !== undefined);
  return attributeKey === undefined ? named : [...named, `${attributeKey} = ${attributeValue}`];
}

/** The distance between two evaluated windows: longer windows are read from roll-ups of an hour. */
export function stepMinutesOf({ windowMinutes }: Pick<AlertCondition, 'windowMinutes'>): number {
  if (windowMinutes <= 30) return 1;
  return windowMinutes <= 360 ? 5 : 60;
}

/** Whether the value is beyond the bound, clearly back, or between. Without a value, as of an error rate without events, it is back. */
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
