import { attributePrefix, isAttribute } from '../../filter/conditions.ts';
import type { Search } from '../../url/search.ts';
import type { GroupBy } from './series.ts';

/** What the charts page groups and filters by, from its address and the dimensions of the space. */

export const groups: readonly { value: Exclude<GroupBy, `attr.${string}`>; label: string }[] = [
  { value: 'none', label: 'All events' },
  { value: 'type', label: 'By type' },
  { value: 'model', label: 'By model' },
  { value: 'tool', label: 'By tool' },
  { value: 'source', label: 'By source' },
  { value: 'agent', label: 'By agent' },
];

export type Declared = readonly { readonly name: string }[];

export const isDeclared = (declared: Declared, name: string) => declared.some((one) => one.name === name);

export function readGroup(by = 'none'): GroupBy {
  if (by === 'user' || isAttribute(by)) return by;
  return groups.find(({ value }) => value === by)?.value ?? 'none';
}

/**
 * Which events are counted, from the address: those of a type, of one model or tool, and of one value of a
 * declared dimension, unless the chart is grouped by another. Statistics by agent have none of these while
 * the space does not declare agents.
 */
export function readOnly(search: Search, groupBy: GroupBy, declared: Declared): Search {
  if (groupBy === 'agent' && !isDeclared(declared, 'agent')) return {};
  const names = ['type', 'name', 'source'];
  const isOther = (name: string) =>
    groupBy !== 'agent' && groupBy !== 'user' && !isAttribute(groupBy) && name !== '';
  const sliced = declared.map(({ name }) => (name === 'user' || name === 'agent' ? `${name}Id` : name));
  const own = Object.entries(search).filter(([name, value]) => value !== '' && names.includes(name));
  const first = Object.entries(search).find(
    ([name, value]) => value !== '' && sliced.includes(name) && isOther(name),
  );
  return Object.fromEntries(first === undefined ? own : [...own, first]);
}

/** Whether costs are known by a group. */
export function hasCosts(groupBy: GroupBy, declared: Declared): boolean {
  const isByModel = groupBy === 'none' || groupBy === 'model';
  return isByModel || groupBy === 'user' || isAttribute(groupBy) || isDeclared(declared, groupBy);
}

/** The filter of the API for what {@link readOnly} found. */
export function toChartFilter({ type, name, source, userId, agentId, ...others }: Search) {
  const [attribute] = Object.entries(others).map(([key, value]) => ({
    key: key.slice(attributePrefix.length),
    value,
  }));
  const optional = { name, source, userId, agentId };
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    ...((type === 'llm' || type === 'tool') && { type }),
    ...(attribute && { attribute }),
  } as { type?: 'llm' | 'tool'; name?: string; attribute?: { key: string; value: string } };
}

/** The dimensions that are no groups of every space, and the one of the address. */
export function slicedGroups(declared: Declared, groupBy: GroupBy): { value: GroupBy; label: string }[] {
  const names = new Set(
    [...declared.map(({ name }) => name), groupBy].filter((name) => name === 'user' || isAttribute(name)),
  );
  return [...names].map((name) => ({
    value: readGroup(name),
    label: `By ${name === 'user' ? name : name.slice(attributePrefix.length)}`,
  }));
}

/** What the events of a series can be split by: what charts cannot filter by, or already do, is left out. */
export function splitsOf(
  { state: _state, sort: _sort, ...filter }: Search,
  declared: Declared,
): { filter: Search; ways: { value: GroupBy; label: string }[] } {
  const isSliced = Object.keys(filter).some((name) => !['type', 'name', 'source'].includes(name));
  const isKnown = filter.agentId === undefined || isDeclared(declared, 'agent');
  const plain = groups.filter(({ value }) => {
    if (value === 'model' || value === 'tool') return filter.name === undefined;
    if (value === 'agent') return !isSliced && isDeclared(declared, 'agent');
    return value !== 'none' && filter[value] === undefined;
  });
  const ways = isSliced ? plain : [...slicedGroups(declared, 'none'), ...plain];
  return { filter, ways: Object.keys(filter).length === 0 || !isKnown ? [] : ways };
}
