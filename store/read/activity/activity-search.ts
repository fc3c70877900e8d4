import { eq, or, type SQL, sql } from 'drizzle-orm';
import { asStored, storableText } from '../../../event/text.ts';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../db/database.ts';
import { events } from '../../db/schema.ts';
import { type EventFilter, matchValues } from '../event-filter.ts';
import { readEventPage } from '../event-page.ts';
import { containsFolded, startsFolded } from '../folded-text.ts';
import type { ActivityColumn } from './activity-segments.ts';
import type { ActivityWalk, ActivityWalkQuery } from './activity-walk.ts';

/** How the threads or users of a search are found. */
export type ActivitySearch =
  /** The search text is an id of a thread or user. */
  | { kind: 'id'; value: string; match: SQL }
  /** The threads of the events of a filter: those of a user, or with some notes. */
  | { kind: 'events'; filter: EventFilter; match: SQL }
  /** Ids that begin with the text, and threads with it in a user's id or in the preview of an input. */
  | { kind: 'text'; match: SQL };

const columns = pick(events, 'id', 'startTimeMs', 'threadId', 'userId');

/** Events that are read at once to find their threads. */
const eventsRead = 500;

/** Decides how to search: an id that exists is found by its terms, however old its events are. */
export async function openActivitySearch(
  database: Database,
  spaceId: string,
  { column, text }: { column: ActivityColumn; text: string },
): Promise<ActivitySearch> {
  const value = asStored(text);
  const hasEvents = async (filter: EventFilter) =>
    (await readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 1 })).rows.length > 0;
  if (await hasEvents({ [column]: value })) return { kind: 'id', value, match: eq(events[column], value) };
  if (column === 'threadId' && (await hasEvents({ userId: value }))) return ofEvents({ userId: value });
  const wanted = storableText(text);
  const isId = startsFolded(events[column], wanted);
  const match =
    column === 'userId'
      ? isId
      : or(isId, startsFolded(events.userId, wanted), containsFolded(events.inputPreview, wanted));
  return { kind: 'text', match: match ?? isId };
}

/** The threads, or users, of the events of a filter. */
export function ofEvents(filter: EventFilter): ActivitySearch {
  return { kind: 'events', filter, match: matchValues(filter) ?? sql`true` };
}

/** Collects the threads or users of the events of a filter in list order, like `walkValues`. */
export async function walkEventValues(
  database: Database,
  spaceId: string,
  query: Omit<ActivityWalkQuery, 'match' | 'eventsMax'> & { filter: EventFilter },
): Promise<ActivityWalk> {
  const filter = { ...query.filter, ...query.range };
  const { column, after, seen, valuesMax } = query;
  const page = await readEventPage(database, spaceId, { columns, filter, after, limit: eventsRead });
  const values = new Set<string>();
  for (const { id, startTimeMs, [column]: value } of page.rows) {
    if (value === null || seen.has(value)) continue;
    values.add(value);
    if (values.size === valuesMax) return { values: [...values], end: { id, startTimeMs } };
  }
  return { values: [...values], end: page.next };
}
