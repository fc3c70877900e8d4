import {
  attributePrefix,
  type Condition as Filtered,
  labelOf,
  readConditions,
} from '../../filter/conditions.ts';
import type { Search } from '../../url/search.ts';
import { type Condition, eventWindowMax, type Kind, kinds, type Rule, windows } from './alert-text.ts';

export type Scope = 'all' | 'name' | 'source' | 'agentId' | 'attributeValue';
export const scopes: { value: Scope; label: string }[] = [
  { value: 'all', label: 'All events' },
  { value: 'name', label: 'A model or tool' },
  { value: 'agentId', label: 'An agent' },
  { value: 'source', label: 'A source' },
  { value: 'attributeValue', label: 'An additional property' },
];

export interface Draft {
  name: string;
  kind: Kind;
  comparison: 'above' | 'below';
  bound: string;
  windowMinutes: string;
  holdMinutes: string;
  scope: Scope;
  scopeValue: string;
  attributeKey: string;
}

export function draftOf(rule: Rule | undefined): Draft {
  const { filter = {} } = rule ?? {};
  const scope = scopes.find(({ value }) => value !== 'all' && filter[value] !== undefined)?.value ?? 'all';
  return {
    name: rule?.name ?? '',
    kind: rule?.kind ?? 'error_rate',
    comparison: rule?.comparison ?? 'above',
    bound: rule === undefined ? kinds.error_rate.bound : String(rule.bound),
    windowMinutes: String(rule?.windowMinutes ?? 15),
    holdMinutes: String(rule?.holdMinutes ?? 5),
    scope,
    scopeValue: scope === 'all' ? '' : (filter[scope] ?? ''),
    attributeKey: filter.attributeKey ?? '',
  };
}

/** A draft with one condition of a list's filter, and the conditions left out. Errors count by their rate. */
export function draftFrom(filter: Search): { draft: Draft; leftOut: Filtered[] } {
  const conditions = readConditions(filter).filter(({ field }) => field !== 'state');
  const kept = conditions.find(({ field, isExcluded }) => !isExcluded && scopeOf(field) !== undefined);
  const scope = kept && scopeOf(kept.field);
  const draft = draftOf(undefined);
  if (kept === undefined || scope === undefined) return { draft, leftOut: conditions };
  return {
    draft: {
      ...draft,
      name: `${kinds[draft.kind].label} of ${kept.value}`.slice(0, 100),
      scope,
      scopeValue: kept.value,
      attributeKey: scope === 'attributeValue' ? labelOf(kept.field) : '',
    },
    leftOut: conditions.filter((one) => one !== kept),
  };
}

function scopeOf(field: string): Scope | undefined {
  if (field.startsWith(attributePrefix)) return 'attributeValue';
  return scopes.find(({ value }) => value === field)?.value;
}

/** @returns undefined while a number is missing or invalid. */
export function conditionOf(draft: Draft): Condition | undefined {
  const { kind, comparison, scope, scopeValue, attributeKey } = draft;
  const [bound, holdMinutes] = [Number(draft.bound), Number(draft.holdMinutes)];
  const windowMinutes = windows.find((one) => String(one) === draft.windowMinutes);
  const isValid =
    draft.bound.trim() !== '' &&
    bound >= 0 &&
    Number.isInteger(holdMinutes) &&
    holdMinutes >= 0 &&
    holdMinutes <= 1_440;
  if (!isValid || windowMinutes === undefined || (scope !== 'all' && scopeValue === '')) return undefined;
  const isByProperty = scope === 'attributeValue';
  if (isByProperty && (attributeKey === '' || windowMinutes > eventWindowMax)) return undefined;
  const filter =
    scope === 'all' || !kinds[kind].isWindow
      ? {}
      : { [scope]: scopeValue, ...(isByProperty && { attributeKey }) };
  return { kind, comparison, bound, windowMinutes, holdMinutes, filter };
}
