import { type SQL, sql } from 'drizzle-orm';
import { type TermSource, termColumns } from '../../event/terms.ts';
import { asStored, storableText } from '../../event/text.ts';
import type { Database } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { type ComparedNumbers, comparedNumbers, compileComparison } from './compare/comparisons.ts';
import type { EventFilter } from './event-filter.ts';

/** The columns that filter predicates use. */
export type PredicateRow = Pick<
  typeof events.$inferSelect,
  (typeof termColumns)[number] | 'startTimeMs' | 'durationMs' | 'attributes'
> & {
  /** The previews and the error message, lower-cased by the database; null when no filter searches text. */
  lowerInput: string | null;
  lowerOutput: string | null;
  lowerError: string | null;
} & ComparedNumbers;

export type EventPredicate = (row: PredicateRow) => boolean;

/** Columns that predicates use and lists do not show. Each is read only when one of the filters needs it. */
export function predicateColumns(filters: readonly EventFilter[]) {
  const hasText = filters.some(({ text }) => text !== undefined);
  const hasAttributes = filters.some(
    ({ attributes = [], not = [] }) => attributes.length > 0 || not.some((source) => 'attribute' in source),
  );
  const hasNumbers = filters.some(({ comparisons = [] }) =>
    comparisons.some(({ measure }) => measure !== 'duration'),
  );
  const number = (name: keyof ComparedNumbers) =>
    sql<number | null>`${hasNumbers ? comparedNumbers[name] : sql`NULL::float8`}`.as(`predicate_${name}`);
  const lower = (column: SQL) => sql<string | null>`${hasText ? sql`lower(${column})` : sql`NULL::text`}`;
  return {
    lowerInput: lower(sql`${events.inputPreview}`).as('lower_input'),
    lowerOutput: lower(sql`${events.outputPreview}`).as('lower_output'),
    lowerError: lower(sql`${events.errorMessage}`).as('lower_error'),
    attributes: sql<PredicateRow['attributes']>`${hasAttributes ? events.attributes : sql`NULL::json`}`.as(
      'attributes',
    ),
    countedTokens: number('countedTokens'),
    uncachedInput: number('uncachedInput'),
    cachedInput: number('cachedInput'),
    cachingInput: number('cachingInput'),
    output: number('output'),
  };
}

/**
 * Compiles a filter to a function that matches exactly the rows that a list with the filter shows. A property
 * test compares the two.
 *
 * Lower-casing depends on the locale of the database, so Postgres also converts the searched text.
 */
export async function createPredicate(database: Database, filter: EventFilter): Promise<EventPredicate> {
  const { from, to, attributes = [], minDurationMs, maxDurationMs, text, not = [] } = filter;
  const needle = text === undefined ? undefined : await toLower(database, storableText(text));
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
  if (needle !== undefined)
    conditions.push((row) =>
      [row.lowerInput, row.lowerOutput, row.lowerError].some((searched) => searched?.includes(needle)),
    );
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

async function toLower(database: Database, text: string): Promise<string> {
  const [row] = await database.execute<{ text: string }>(sql`SELECT lower(${text}::text) AS text`);
  if (row === undefined) throw new Error('SELECT returned no row');
  return row.text;
}
