import { and, eq, inArray } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { type EventPredicate, predicateColumns } from '../../../store/read/event-predicate.ts';
import { readChanges } from '../../../store/tail/event-changes.ts';
import { type ListedEvent, listedColumns, showEvents } from '../events/listed-event.ts';
import { liveMessageBytesMax, liveMessageEventsMax } from './limits.ts';
import { type EventMessage, pickListed } from './live-page.ts';

export interface LiveChanges {
  readonly end: number;
  readonly isComplete: boolean;
  /** The messages of a stream that has read the changes up to `after`. */
  readonly messagesFor: (predicate: EventPredicate, after: number) => EventMessage[];
}

/** Reads changes, with the events as they are now, and the columns that these filters need. */
export async function readLiveChanges(
  database: Database,
  spaceId: string,
  { after, filters }: { after: number; filters: readonly EventFilter[] },
): Promise<LiveChanges> {
  const { numbers, end, isComplete } = await readChanges(database, spaceId, after);
  const ids = [...numbers.keys()];
  const rows =
    ids.length === 0
      ? []
      : await database
          .select({ ...listedColumns, ...predicateColumns(filters) })
          .from(events)
          .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  const shown = await showEvents(database, spaceId, rows.map(pickListed));
  const found = new Map(rows.map((row, place) => [row.id, { row, event: shown[place] }]));
  return {
    end,
    isComplete,
    messagesFor: (predicate, since) => {
      const own = ids.filter((id) => (numbers.get(id) ?? 0) > since);
      const items = own.map((id) => {
        const { row, event } = found.get(id) ?? {};
        return { id, event: row !== undefined && predicate(row) ? event : undefined };
      });
      return toChangeMessages(items, { after: since, end });
    },
  };
}

/** A client that resumes between two of them gets all of them again, which changes nothing. */
function toChangeMessages(
  items: readonly { id: string; event: ListedEvent | undefined }[],
  { after, end }: { after: number; end: number },
): EventMessage[] {
  const messages: (EventMessage & {
    message: { events: ListedEvent[]; removed: string[] };
    bytes: number;
  })[] = [];
  for (const { id, event } of items) {
    const bytes = event === undefined ? id.length : JSON.stringify(event).length;
    let last = messages.at(-1);
    const count = last === undefined ? 0 : last.message.events.length + last.message.removed.length;
    if (last === undefined || count === liveMessageEventsMax || last.bytes + bytes > liveMessageBytesMax) {
      last = { message: { type: 'changed', events: [], removed: [] }, change: after, bytes: 0 };
      messages.push(last);
    }
    if (event === undefined) last.message.removed.push(id);
    else last.message.events.push(event);
    last.bytes += bytes;
  }
  return messages.map((message, at) => (at === messages.length - 1 ? { ...message, change: end } : message));
}
