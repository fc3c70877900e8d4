import type { Database } from '../../../lib/db/database.ts';
import type { TailPosition } from '../../../lib/tail/position.ts';
import { readStoredPage, type StoredPage, type StoredQuery } from '../../../lib/tail/stored-events.ts';
import { type ListedEvent, listedColumns, showEvent } from '../events/listed-event.ts';

/** An event as streams send it. Streams share it. */
export interface LiveEvent {
  readonly event: ListedEvent;
  readonly position: TailPosition;
  /** A digit for each filter of the query: see StoredEvent. */
  readonly matches: string;
}

export interface LivePage extends Omit<StoredPage<typeof listedColumns>, 'events'> {
  readonly events: readonly LiveEvent[];
}

/** The next events that a space stored after a position, as lists show them. */
export async function readLivePage(
  database: Database,
  spaceId: string,
  query: Omit<StoredQuery<typeof listedColumns>, 'columns'>,
): Promise<LivePage> {
  const page = await readStoredPage(database, spaceId, { ...query, columns: listedColumns });
  const events = page.events.map(({ row, position, matches }) => ({
    event: showEvent(row),
    position,
    matches,
  }));
  return { ...page, events };
}
