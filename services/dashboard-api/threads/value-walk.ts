import { type ActivitySearch, walkEventValues } from '../../../store/read/activity/activity-search.ts';
import {
  type ActivityWalk,
  type ActivityWalkQuery,
  walkValues,
} from '../../../store/read/activity/activity-walk.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import type { SpaceRows } from '../space-data.ts';

/** Events of the first statement, and the number of statements; each examines twice as many. */
const activityFirstWalkEvents = 1_250;
const activityWalksMax = 4;

interface ValueQuery extends Omit<ActivityWalkQuery, 'seen' | 'valuesMax' | 'eventsMax'> {
  search: ActivitySearch | undefined;
}

/** Finds threads or users in list order, by a bounded number of walks. Each examines more events. */
export class ValueWalk {
  readonly #space: SpaceRows;
  readonly #query: ValueQuery;
  readonly #seen = new Set<string>();
  #position: EventCursor | undefined;
  #isEnd = false;
  #walks = 0;

  constructor(space: SpaceRows, query: ValueQuery) {
    this.#space = space;
    this.#query = query;
    this.#position = query.after;
  }

  get mayFindMore(): boolean {
    return !this.#isEnd && this.#walks < activityWalksMax;
  }

  /** The last event that was examined; undefined at the end. */
  get next(): EventCursor | undefined {
    return this.#isEnd ? undefined : this.#position;
  }

  /** The next values, at most `valuesMax`. */
  async take(valuesMax: number): Promise<string[]> {
    const values: string[] = [];
    while (this.mayFindMore && values.length < valuesMax) {
      const found = await findValues(this.#space, {
        ...this.#query,
        after: this.#position,
        seen: this.#seen,
        valuesMax: valuesMax - values.length,
        eventsMax: activityFirstWalkEvents * 2 ** this.#walks++,
      });
      for (const value of found.values) this.#seen.add(value);
      values.push(...found.values);
      this.#position = found.end ?? this.#position;
      this.#isEnd = found.end === undefined;
    }
    return values;
  }
}

/** The next values in list order. A page that continues a search of one id is empty. */
async function findValues(
  { database, spaceId }: SpaceRows,
  { search, ...query }: ActivityWalkQuery & Pick<ValueQuery, 'search'>,
): Promise<ActivityWalk> {
  if (search?.kind === 'id') return { values: [search.value], end: undefined };
  if (search?.kind !== 'events') return await walkValues(database, spaceId, query);
  return await walkEventValues(database, spaceId, { ...query, filter: search.filter });
}
