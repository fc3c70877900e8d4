import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import { asStored, storableText } from '../../../event/text.ts';
import { events, notes } from '../../db/schema.ts';
import type { Comparison } from './comparisons.ts';

/**
 * A condition on the notes on an event, its trace or its thread: that there is one, with the label, the value
 * or the score, where they are named.
 */
export interface NoteCondition {
  readonly label?: string | undefined;
  /** The value as text: numbers as JavaScript prints them, `true` or `false`. */
  readonly value?: string | undefined;
  /** Compares numbers, and booleans as 0 or 1. */
  readonly operator?: Comparison['operator'] | undefined;
  readonly score?: number | undefined;
  /** Whether there must be none. */
  readonly isExcluded?: boolean | undefined;
}

/** The condition on rows of `notes`. */
export function matchNotes(
  spaceId: string,
  { label, value, operator, score }: NoteCondition,
): SQL | undefined {
  return and(
    eq(notes.spaceId, spaceId),
    label === undefined ? undefined : eq(notes.label, storableText(label)),
    value === undefined ? undefined : eq(notes.value, asStored(value)),
    operator === undefined || score === undefined
      ? undefined
      : and(isNotNull(notes.score), sql`${notes.score} ${sql.raw(operator)} ${score}::float8`),
  );
}

/** The condition on rows of `events`. */
export function matchNoted(spaceId: string, condition: NoteCondition): SQL {
  const [event, trace, thread] = [sql`${events.id}::text`, sql`${events.traceId}::text`, events.threadId];
  const own = sql`CASE ${notes.target} WHEN 'event' THEN ${event} WHEN 'trace' THEN ${trace} ELSE ${thread} END`;
  // The array makes it a look-up in the index.
  const found = sql`EXISTS (SELECT 1 FROM ${notes} WHERE ${matchNotes(spaceId, condition)}
    AND ${notes.targetId} = ANY (ARRAY[${event}, ${trace}, ${thread}]) AND ${notes.targetId} = ${own})`;
  return condition.isExcluded === true ? sql`NOT ${found}` : found;
}
