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
