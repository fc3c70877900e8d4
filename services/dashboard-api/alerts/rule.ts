import { costDecimals } from '../../../event/usage/reported-cost.ts';
import type { alertRules } from '../../../store/db/schema.ts';
import type { Cost } from '../../../store/prices/cost-sum.ts';
import { unitsOfCost } from '../../../store/prices/decimal.ts';
import type { ChartFilter } from '../charts/dimension.ts';
import { resolveMarginPercent } from './limits.ts';

type Rule = typeof alertRules.$inferSelect;
export type AlertKind = Rule['kind'];

/** What statistics do not have is counted one by one. */
export interface AlertFilter extends Omit<ChartFilter, 'attribute' | 'userId' | 'not'> {
  readonly attributeKey?: string | undefined;
  readonly attributeValue?: string | undefined;
}

type ConditionColumns = 'kind' | 'comparison' | 'bound' | 'windowMinutes' | 'holdMinutes';
export type AlertCondition = Pick<Rule, ConditionColumns> & { readonly filter: AlertFilter };

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

/** The distance between two evaluated windows: longer windows are read from roll-ups of an hour. */
export function stepMinutesOf({ windowMinutes }: Pick<AlertCondition, 'windowMinutes'>): number {
  if (windowMinutes <= 30) return 1;
  return windowMinutes <= 360 ? 5 : 60;
}

/** What was measured over a window, in the unit of the bound; null when its events have no value. */
export interface Measured {
  readonly value: number | null;
  /** For a rule on costs: the exact value, and how it compares with the true cost. */
  readonly cost?: Pick<Cost, 'cost' | 'bound'> | undefined;
}

/** Whether a value is beyond the bound, clearly back, or between; a missing value is back. */
export function judge(
  { kind, comparison, bound }: AlertCondition,
  measured: Measured,
): 'exceeded' | 'between' | 'cleared' {
  const { value } = measured;
  if (value === null) return 'cleared';
  if (kind === 'silence') return value === 0 ? 'exceeded' : 'cleared';
  const margin = isStateNow(kind) ? 0 : resolveMarginPercent;
  const toBound = compare(measured, bound, 100);
  if (comparison === 'above') {
    if (toBound > 0 || (kind === 'quota' && toBound === 0)) return 'exceeded';
    return compare(measured, bound, 100 - margin) <= 0 ? 'cleared' : 'between';
  }
  if (toBound < 0) return 'exceeded';
  return compare(measured, bound, 100 + margin) >= 0 ? 'cleared' : 'between';
}

/**
 * The sign of the value minus a percentage of the bound. Costs are compared as decimals: no rounding decides.
 */
function compare({ value, cost }: Measured, bound: number, percent: number): number {
  if (cost?.cost == null) return (value ?? 0) - (bound * percent) / 100;
  const units = unitsOfCost(cost.cost) * 100n;
  const limit = unitsOfCost(bound.toFixed(costDecimals)) * BigInt(percent);
  return units === limit ? 0 : units > limit ? 1 : -1;
}
