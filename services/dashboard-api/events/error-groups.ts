import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { events } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { newestLimits } from '../../../store/read/limits.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import type { SpaceRows } from '../space-data.ts';

const errorEventsGrouped = 1_000;
const errorGroupsShown = 20;

/** Errors whose messages differ in numbers and ids only. */
const errorGroup = z
  .object({
    /** The message and code of the newest of them. */
    message: z.string().nullable(),
    code: z.string().nullable(),
    /** Models and tools, at most three. */
    names: z.array(z.string()),
    nameCount: z.number(),
    events: z.number(),
    lastEventId: z.guid(),
    lastStartMs: z.number(),
  })
  .meta({ id: 'ErrorGroup' });

export const errorGroups = z
  .object({
    /** By descending number of events. */
    groups: z.array(errorGroup),
    /** The start of the oldest counted error; null when all of the filter were counted. */
    countedUntilMs: z.number().nullable(),
  })
  .meta({ id: 'ErrorGroups' });
export type ErrorGroups = z.infer<typeof errorGroups>;

const columns = pick(events, 'id', 'startTimeMs', 'name', 'errorCode', 'errorMessage');

const namesShown = 3;

/** Counts newest errors by message, which statistics lack: so the number of events is bounded. */
export async function readErrorGroups(space: SpaceRows, filter: EventFilter): Promise<ErrorGroups> {
  const { database, spaceId } = space;
  const errors = { ...(await completeFilter(space, filter)), state: 'error' as const };
  const query = { filter: errors, after: undefined, limit: errorEventsGrouped };
  const page = await readEventPage(database, spaceId, { columns, ...query, limits: newestLimits });
  const byMessage = Map.groupBy(page.rows, ({ errorCode, errorMessage }) =>
    JSON.stringify([errorCode, withoutNumbers(errorMessage ?? '')]),
  );
  const groups = [...byMessage.values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, errorGroupsShown)
    .flatMap((rows) => {
      const [newest] = rows;
      if (newest === undefined) return [];
      const names = new Set(rows.flatMap(({ name }) => name ?? []));
      return [
        {
          message: newest.errorMessage,
          code: newest.errorCode,
          names: [...names].slice(0, namesShown),
          nameCount: names.size,
          events: rows.length,
          lastEventId: newest.id,
          lastStartMs: newest.startTimeMs,
        },
      ];
    });
  return { groups, countedUntilMs: page.next?.startTimeMs ?? null };
}

/** Ids and numbers differ in each event: `timeout after 3012 ms`. */
function withoutNumbers(message: string): string {
  return message.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+/gi, '0');
}
