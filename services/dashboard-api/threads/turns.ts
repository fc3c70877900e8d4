import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import { addedNumberMax } from '../../../lib/event/limits.ts';
import { type EventCursor, formatEventCursor } from '../../../lib/read/event-cursor.ts';
import { readEventPage } from '../../../lib/read/event-page.ts';
import { type ListedRow, listedColumns, listedEvent, showEvent } from '../events/listed-event.ts';
import { eventsPageMax } from '../limits.ts';

/** One call of a model and the tools that ran until the next one. */
const turn = z
  .object({
    /** In order of time. The first is the LLM event, but where the thread begins with tools, and where `isContinued`. */
    events: z.array(listedEvent),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** Whether the beginning of the turn is on the next page, which a turn with very many events has. */
    isContinued: z.boolean(),
  })
  .meta({ id: 'Turn' });
export type Turn = z.infer<typeof turn>;

export const turnPage = z
  .object({
    /** The newest turn first. */
    turns: z.array(turn),
    /** Where the next page, of older turns, begins; null at the beginning of the thread. */
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'TurnPage' });
export type TurnPage = z.infer<typeof turnPage>;

/** A page of the turns of a thread. Empty for a thread that the space does not have. */
export async function readTurns(
  database: Database,
  spaceId: string,
  { threadId, cursor, limit }: { threadId: string; cursor?: EventCursor | undefined; limit: number },
): Promise<TurnPage> {
  const page = await readEventPage(database, spaceId, listedColumns, {
    filter: { threadId },
    after: cursor,
    limit: eventsPageMax,
  });
  const turns: Turn[] = [];
  let open: ListedRow[] = [];
  for (const row of page.rows) {
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
  // A turn of which the page has only the end is left to the next page, unless the page has nothing else.
  if (turns.length === 0) {
    if (open.length > 0) turns.push(toTurn(open, true));
    return { turns, nextCursor: page.next === undefined ? null : formatEventCursor(page.next) };
  }
  const last = page.rows[shown - 1];
  return { turns, nextCursor: last === undefined ? null : formatEventCursor(last) };
}

/** @param rows the newest first. */
function toTurn(rows: readonly ListedRow[], isContinued: boolean): Turn {
  const sum = (pick: (row: ListedRow) => number | null) =>
    rows.reduce((total, row) => total + toAddend(pick(row) ?? 0), 0);
  return {
    events: rows.toReversed().map(showEvent),
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    isContinued,
  };
}

/** As the statistics add them up: a client may claim any finite number of tokens. */
function toAddend(tokens: number): number {
  return Math.max(-addedNumberMax, Math.min(tokens, addedNumberMax));
}
