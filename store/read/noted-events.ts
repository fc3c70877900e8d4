import { and, eq, inArray } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, notes } from '../db/schema.ts';
import { matchNotes, type NoteCondition } from './compare/note-conditions.ts';
import { type EventFilter, type NotedSegments, termsOf } from './event-filter.ts';

/**
 * Most targets of a condition whose segments are looked up. With more, some of the newest events have such
 * notes: they are examined in order of time, each by a look-up in the index of notes.
 */
const notedTargetsMax = 1_000;

/** Prepares the conditions on notes of a filter for a read. Other filters stay as they are. */
export async function withNotedEvents<Filter extends EventFilter>(
  database: Database,
  spaceId: string,
  filter: Filter,
): Promise<Filter> {
  if (filter.notes === undefined || filter.notes.length === 0) return filter;
  const found = await Promise.all(
    filter.notes.map((condition) => findSegments(database, spaceId, condition)),
  );
  return { ...filter, noted: { spaceId, segments: found.flatMap((segments) => segments ?? []) } };
}

/** @returns undefined when the condition has too many targets, or excludes them. */
async function findSegments(
  database: Database,
  spaceId: string,
  condition: NoteCondition,
): Promise<NotedSegments | undefined> {
  if (condition.isExcluded === true) return undefined;
  const targets = await database
    .selectDistinct({ target: notes.target, targetId: notes.targetId })
    .from(notes)
    .where(matchNotes(spaceId, condition))
    .limit(notedTargetsMax + 1);
  if (targets.length > notedTargetsMax) return undefined;
  const idsOf = (wanted: (typeof targets)[number]['target']) =>
    targets.flatMap(({ target, targetId }) => (target === wanted ? targetId : []));
  const eventIds = idsOf('event');
  const rows =
    eventIds.length === 0
      ? []
      : await database
          .selectDistinct({ id: events.segmentId })
          .from(events)
          .where(and(eq(events.spaceId, spaceId), inArray(events.id, eventIds)));
  const terms = [
    ...idsOf('trace').flatMap((traceId) => termsOf(spaceId, { traceId })),
    ...idsOf('thread').flatMap((threadId) => termsOf(spaceId, { threadId })),
  ];
  return { ids: rows.map(({ id }) => id), terms };
}
