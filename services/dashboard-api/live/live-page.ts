import type { Database } from '../../../store/db/database.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { type EventPredicate, predicateColumns } from '../../../store/read/event-predicate.ts';
import { comparePositions, type TailPosition } from '../../../store/tail/position.ts';
import { readStoredPage } from '../../../store/tail/stored-events.ts';
import { type ListedEvent, type ListedRow, listedColumns, showEvents } from '../events/listed-event.ts';
import { liveMessageBytesMax, liveMessageEventsMax } from './limits.ts';
import type { LiveMessage } from './live-message.ts';

/** An event as streams send it. All streams of the space share the object. */
export interface LiveEvent {
  readonly event: ListedEvent;
  readonly position: TailPosition;
  readonly bytes: number;
}

export interface LivePage {
  readonly count: number;
  /** Selects the events that a filter shows. */
  readonly matching: (predicate: EventPredicate) => LiveEvent[];
  /** The page covers everything up to this position. */
  readonly end: TailPosition;
  readonly isComplete: boolean;
}

export interface EventMessage {
  readonly message: LiveMessage;
  /** The position that the client then has; undefined for changes, which have other numbers. */
  readonly end?: TailPosition;
  /** The change that the client has reached with it. */
  readonly change?: number;
  readonly bytes: number;
}

/** @param end the position after the last event. */
export function toEventMessages(events: readonly LiveEvent[], end: TailPosition): EventMessage[] {
  const lists: LiveEvent[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    bytes += event.bytes;
    const list = lists.at(-1);
    if (list !== undefined && bytes <= liveMessageBytesMax && list.length < liveMessageEventsMax)
      list.push(event);
    else {
      lists.push([event]);
      bytes = event.bytes;
    }
  }
  return lists.map((list, at) => {
    const own = at === lists.length - 1 ? end : (list.at(-1)?.position ?? end);
    const message: LiveMessage = { type: 'events', events: list.map(({ event }) => event) };
    return { message, end: own, bytes: list.reduce((sum, event) => sum + event.bytes, 0) };
  });
}

/**
 * The next events that a space stored, with the columns that these filters need.
 * @returns undefined when what follows the position is unknown.
 */
export async function readLivePage(
  database: Database,
  spaceId: string,
  query: { after: TailPosition; filters: readonly EventFilter[]; rowsMax?: number },
): Promise<LivePage | undefined> {
  const columns = { ...listedColumns, ...predicateColumns(query.filters) };
  const page = await readStoredPage(database, spaceId, { ...query, columns });
  if (page === undefined) return undefined;
  const listed = page.events.map(({ row }) => pickListed(row));
  const shown = await showEvents(database, spaceId, listed);
  const rows = page.events.flatMap(({ row, position }, place) => {
    const event = shown[place];
    return event === undefined
      ? []
      : [{ row, shown: { event, position, bytes: JSON.stringify(event).length } }];
  });
  return {
    count: rows.length,
    matching: (predicate) => rows.filter(({ row }) => predicate(row)).map(({ shown }) => shown),
    end: page.end,
    isComplete: page.isComplete,
  };
}

/** Without the columns that only predicates use. */
export function pickListed(row: ListedRow): ListedRow {
  const names = Object.keys(listedColumns) as (keyof ListedRow)[];
  // The names are those of the type.
  return Object.fromEntries(names.map((name) => [name, row[name]])) as ListedRow;
}

export interface MatchingQuery {
  after: TailPosition;
  /** Events after this position are not returned. */
  until: TailPosition | undefined;
  filter: EventFilter;
  predicate: EventPredicate;
  limit: number;
}

export interface MatchingEvents {
  events: LiveEvent[];
  /** Everything up to this position was examined. */
  end: TailPosition;
  /** Whether nothing further is stored, or `until` was reached. */
  isComplete: boolean;
}

/** @returns the first matching events of one page; undefined when what follows the position is unknown. */
export async function readMatching(
  database: Database,
  spaceId: string,
  { after, until, filter, predicate, limit }: MatchingQuery,
): Promise<MatchingEvents | undefined> {
  const page = await readLivePage(database, spaceId, { after, filters: [filter] });
  if (page === undefined) return undefined;
  const isBeyond = (position: TailPosition) => until !== undefined && comparePositions(position, until) > 0;
  const matching = page.matching(predicate).filter(({ position }) => !isBeyond(position));
  const events = matching.slice(0, limit);
  const last = events.at(-1);
  if (matching.length > events.length && last !== undefined)
    return { events, end: last.position, isComplete: false };
  const isLast = until !== undefined && comparePositions(page.end, until) >= 0;
  return { events, end: isLast ? until : page.end, isComplete: isLast || page.isComplete };
}
