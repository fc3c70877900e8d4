import { z } from 'zod';
import { type EventCursor, formatEventCursor } from '../../../store/read/event-cursor.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { toAddend } from '../charts/token-prices.ts';
import { type ListedEvent, listedColumns, listedEvent, showEvents } from '../events/listed-event.ts';
import { eventsPageMax } from '../limits.ts';
import type { SpaceRows } from '../space-data.ts';

/** One model call and the tools that ran until the next one. */
const turn = z
  .object({
    /**
     * Events in time order, the LLM event first, unless the thread begins with tools or `isContinued` is set.
     */
    events: z.array(listedEvent),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** Whether the turn has too many events for a page, so that its beginning is on the next page. */
    isContinued: z.boolean(),
  })
  .meta({ id: 'Turn' });
export type Turn = z.infer<typeof turn>;

export const turnPage = z
  .object({
    /** Newest turn first. */
    turns: z.array(turn),
    /** Start of the next page, with older turns; null at the beginning of the thread. */
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'TurnPage' });
export type TurnPage = z.infer<typeof turnPage>;

/** A page of a thread's turns. Empty when the space has no such thread. */
export async function readTurns(
  { database, spaceId }: SpaceRows,
  { threadId, cursor, limit }: { threadId: string; cursor?: EventCursor | undefined; limit: number },
): Promise<TurnPage> {
  const page = await readEventPage(database, spaceId, {
    columns: listedColumns,
    filter: { threadId },
    after: cursor,
    limit: eventsPageMax,
  });
  const turns: Turn[] = [];
  let open: ListedEvent[] = [];
  for (const row of await showEvents(database, spaceId, page.rows)) {
    open.push(row);
    if (row.type !== 'llm') continue;
    turns.push(toTurn(open, false));
    open = [];
    if (turns.length === limit) break;
  }
  const shown = turns.reduce((sum, { events }) => sum + events.length, 0);
  const isAll = shown + open.length === page.rows.length && page.next === undefined;
  if (isAll) {
    if (open.length > 0) turns.push(toTurn(open, false));
    return { turns, nextCursor: null };
  }
  // An incomplete turn is left to the next page, unless the page has no other turn.
  if (turns.length === 0) {
    if (open.length > 0) turns.push(toTurn(open, true));
    return { turns, nextCursor: page.next === undefined ? null : formatEventCursor(page.next) };
  }
  const last = page.rows[shown - 1];
  return { turns, nextCursor: last === undefined ? null : formatEventCursor(last) };
}

/** @param events newest first. */
function toTurn(events: readonly ListedEvent[], isContinued: boolean): Turn {
  const sum = (pick: (event: ListedEvent) => number | null) =>
    events.reduce((total, event) => total + toAddend(pick(event)), 0);
  return {
    events: events.toReversed(),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    isContinued,
  };
}
