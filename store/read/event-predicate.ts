import { sql } from 'drizzle-orm';
import { type TermSource, termColumns } from '../../event/terms.ts';
import { asStored, storableText } from '../../event/text.ts';
import { events } from '../db/schema.ts';
import { type ComparedNumbers, comparedNumbers, compileComparison } from './compare/comparisons.ts';
import type { EventFilter } from './event-filter.ts';
import { hasFoldedText } from './folded-text.ts';

export type PredicateRow = Pick<
  typeof events.$inferSelect,
  | (typeof termColumns)[number]
  | 'startTimeMs'
  | 'durationMs'
  | 'attributes'
  | 'inputPreview'
  | 'outputPreview'
  | 'errorMessage'
> &
  ComparedNumbers;

type CountName = Exclude<keyof ComparedNumbers, 'usageParts' | 'priceClass' | 'reportedCost'>;

export type EventPredicate = (row: PredicateRow) => boolean;

/** Columns that predicates use and lists do not show. Each is read only when one of the filters needs it. */
export function predicateColumns(filters: readonly EventFilter[]) {
  const hasAttributes = filters.some(
    ({ attributes = [], not = [] }) => attributes.length > 0 || not.some((source) => 'attribute' in source),
  );
  const hasNumbers = filters.some(({ comparisons = [] }) =>
    comparisons.some(({ measure }) => measure !== 'duration'),
  );
  const number = (name: CountName) =>
    sql<number | null>`${hasNumbers ? comparedNumbers[name] : sql`NULL::float8`}`.as(`predicate_${name}`);
  const pricing = <Name extends Exclude<keyof ComparedNumbers, CountName>>(name: Name) =>
    sql<
      ComparedNumbers[Name]
    >`${hasNumbers ? comparedNumbers[name] : sql`NULL::${sql.raw(events[name].getSQLType())}`}`.as(
      `predicate_${name}`,
    );
  return {
    attributes: sql<PredicateRow['attributes']>`${hasAttributes ? events.attributes : sql`NULL::json`}`.as(
      'attributes',
    ),
    countedTokens: number('countedTokens'),
    uncachedInput: number('uncachedInput'),
    cachedInput: number('cachedInput'),
    cachingInput: number('cachingInput'),
    output: number('output'),
    usageParts: pricing('usageParts'),
    priceClass: pricing('priceClass'),
    reportedCost: pricing('reportedCost'),
  };
}

/** Compiles a filter to a function that matches the rows of its list. A property test compares both. */
export function createPredicate(filter: EventFilter): EventPredicate {
  const { from, to, attributes = [], minDurationMs, maxDurationMs, text, not = [] } = filter;
  const equal: TermSource[] = [
    ...termColumns.flatMap((column) => {
      const value = filter[column];
      return value === undefined ? [] : [{ column, value }];
    }),
    ...attributes.map(({ key, value }) => ({ attribute: key, value })),
  ];
  const conditions: EventPredicate[] = [
    ...equal.map(hasValue),
    ...not.map(hasValue).map((has) => (row: PredicateRow) => !has(row)),
  ];
  if (from !== undefined) conditions.push((row) => row.startTimeMs >= from);
  if (to !== undefined) conditions.push((row) => row.startTimeMs < to);
  if (minDurationMs !== undefined) conditions.push((row) => row.durationMs >= minDurationMs);
  if (maxDurationMs !== undefined) conditions.push((row) => row.durationMs <= maxDurationMs);
  for (const comparison of filter.comparisons ?? [])
    conditions.push(compileComparison(comparison, filter.costRates));
  // An event that was just stored has no notes. Those on its trace or thread are not looked up.
  if (filter.notes?.some(({ isExcluded }) => isExcluded !== true)) conditions.push(() => false);
  if (text !== undefined) {
    const hasText = hasFoldedText(storableText(text));
    conditions.push((row) => [row.inputPreview, row.outputPreview, row.errorMessage].some(hasText));
  }
  return (row) => conditions.every((holds) => holds(row));
}

function hasValue(source: TermSource): EventPredicate {
  if ('column' in source) {
    const { column } = source;
    // A UUID is stored in lower case.
    const value = column === 'traceId' ? source.value.toLowerCase() : asStored(source.value);
    return (row) => row[column] === value;
  }
  const [key, value] = [storableText(source.attribute), storableText(source.value)];
  return ({ attributes }) =>
    attributes !== null && Object.hasOwn(attributes, key) && String(attributes[key]) === value;
}
