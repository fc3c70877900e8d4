import { and, eq, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import { hashTerm, inSpace, type TermColumn, type TermSource, termColumns } from '../../event/terms.ts';
import { asStored, storableText } from '../../event/text.ts';
import { events } from '../db/schema.ts';
import { type Comparison, type CostRate, matchComparison } from './compare/comparisons.ts';
import { matchNoted, type NoteCondition } from './compare/note-conditions.ts';
import { containsFolded } from './folded-text.ts';

/** Which events a list shows. Undefined members do not restrict it. */
export interface EventFilter extends Partial<Record<TextColumn, string | undefined>> {
  type?: 'llm' | 'tool' | undefined;
  state?: 'ok' | 'error' | undefined;
  /** A UUID, in upper or lower case. */
  traceId?: string | undefined;
  /** Additional properties with these values. Numbers are compared as JavaScript prints them. */
  attributes?: readonly { readonly key: string; readonly value: string }[] | undefined;
  /** Start of the range of start times, included, in milliseconds since the epoch. */
  from?: number | undefined;
  /** End of the range of start times, excluded, in milliseconds since the epoch. */
  to?: number | undefined;
  minDurationMs?: number | undefined;
  maxDurationMs?: number | undefined;
  /** Conditions on numbers, all of which an event must meet. */
  comparisons?: readonly Comparison[] | undefined;
  /** The prices with which costs are compared. */
  costRates?: readonly CostRate[] | undefined;
  /** A substring of the input preview, the output preview or the error message, ignoring case. */
  text?: string | undefined;
  /** Values that an event must not have. An event without a value in the column matches. */
  not?: readonly TermSource[] | undefined;
  /** Conditions on the notes on an event, its trace or its thread, all of which must be met. */
  notes?: readonly NoteCondition[] | undefined;
  /**
   * Where the conditions on notes find events (noted-events.ts). They are required where `notes` is given.
   */
  noted?: NotedEvents | undefined;
}

/** The events that conditions on notes select. */
export interface NotedEvents {
  readonly spaceId: string;
  /** For each condition that few notes meet, the segments that may have its events. */
  readonly segments: readonly NotedSegments[];
}

/** Segments with these ids, or with one of these terms of the space. */
export interface NotedSegments {
  readonly ids: readonly string[];
  readonly terms: readonly bigint[];
}

type TextColumn = Exclude<TermColumn, 'type' | 'state' | 'traceId'>;

/** The condition on start times. */
export function matchTime(
  { from, to }: EventFilter,
  start: SQL = sql`${events.startTimeMs}`,
): SQL | undefined {
  return and(from === undefined ? undefined : gte(start, from), to === undefined ? undefined : lt(start, to));
}

/** All other conditions. @returns undefined when the filter has none. */
export function matchValues(filter: EventFilter): SQL | undefined {
  const {
    attributes = [],
    minDurationMs,
    maxDurationMs,
    text,
    not = [],
    comparisons = [],
    notes = [],
  } = filter;
  return and(
    ...termColumns.map((name) => {
      const value = filter[name];
      return value === undefined ? undefined : eq(events[name], asStored(value));
    }),
    ...attributes.map(({ key, value }) => sql`${attributeOf(key)} = ${storableText(value)}`),
    ...not.map(
      (source) =>
        sql`${'column' in source ? events[source.column] : attributeOf(source.attribute)} IS DISTINCT FROM ${
          'column' in source ? asStored(source.value) : storableText(source.value)
        }`,
    ),
    minDurationMs === undefined ? undefined : gte(events.durationMs, minDurationMs),
    maxDurationMs === undefined ? undefined : lte(events.durationMs, maxDurationMs),
    ...comparisons.map((comparison) => matchComparison(comparison, filter.costRates)),
    ...notes.map((condition) => {
      if (filter.noted === undefined) throw new Error('the conditions on notes were not resolved');
      return matchNoted(filter.noted.spaceId, condition);
    }),
    text === undefined
      ? undefined
      : or(
          ...[events.inputPreview, events.outputPreview, events.errorMessage].map((column) =>
            containsFolded(column, storableText(text)),
          ),
        ),
  );
}

/** Terms of every segment with a matching event; empty when the filter compares no indexed value. */
export function termsOf(spaceId: string, filter: EventFilter): bigint[] {
  const scope = filter.state === 'error' ? 'error' : 'any';
  const columns = termColumns.flatMap((column): TermSource[] => {
    const value = filter[column];
    return value === undefined ? [] : [{ column, value: column === 'traceId' ? value.toLowerCase() : value }];
  });
  const attributes = (filter.attributes ?? []).map(({ key, value }) => ({ attribute: key, value }));
  return inSpace(
    spaceId,
    [...columns, ...attributes].map((source) => hashTerm(source, scope)),
  );
}

function attributeOf(key: string): SQL {
  return sql`${events.attributes} ->> ${storableText(key)}`;
}
