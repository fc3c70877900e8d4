import { useMemo } from 'react';
import type { Output } from '../../api/query.ts';
import { usePages } from '../../space/use-space-query.ts';

export type ThreadTurn = Output<'threads.turns'>['turns'][number];

/** The API's most: a search for an old turn loads many pages. */
const pageTurns = 50;

/** The loaded turns of a thread, oldest first. Earlier ones are loaded page by page. */
export function useThread(threadId: string) {
  // The pages of a long thread are never loaded again; a page that is opened again starts with the newest.
  const list = usePages('threads.turns', { threadId, limit: pageTurns }, { isFixed: true, gcTime: 0 });
  const { data, fetchNextPage } = list;
  const turns = useMemo(() => turnsOf(data?.pages), [data]);

  /** Loads earlier turns until one has the event. @returns the turn's place; undefined when none has it. */
  const load = async (eventId: string): Promise<number | undefined> => {
    let known = turns;
    for (let hasMore = list.hasNextPage; ; ) {
      const place = known.findIndex(({ events }) => events.some(({ id }) => id === eventId));
      if (place !== -1) return place;
      if (!hasMore) return undefined;
      const next = await fetchNextPage();
      if (next.isError) return undefined;
      known = turnsOf(next.data?.pages);
      hasMore = next.hasNextPage;
    }
  };
  return { ...list, turns, load };
}

function turnsOf(pages: readonly { turns: ThreadTurn[] }[] | undefined): ThreadTurn[] {
  return (pages ?? []).flatMap((page) => page.turns).toReversed();
}

/** The first event. */
export function keyOf({ events }: ThreadTurn): string {
  return events[0]?.id ?? '';
}
