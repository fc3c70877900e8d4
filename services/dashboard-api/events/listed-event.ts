import { z } from 'zod';
import { usagePartNames } from '../../../event/usage/usage-parts.ts';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { costBounds } from '../../../store/prices/rates.ts';
import { costsOfEvents } from '../charts/token-prices.ts';
import { eventFlag, flagEvent } from './event-flags.ts';

/** A list's columns. Long texts are truncated, and attributes omitted: the segment has the whole event. */
export const listedColumns = {
  ...pick(events, 'id', 'type', 'state', 'name', 'source', 'traceId', 'threadId', 'agentId', 'agentGroupId'),
  ...pick(events, 'userId', 'startTimeMs', 'endTimeMs', 'durationMs', 'inputTokens', 'outputTokens'),
  ...pick(events, 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens', 'usageParts'),
  ...pick(events, 'priceClass', 'reportedCost', 'errorCode', 'errorHttpStatus', 'errorMessage'),
  ...pick(events, 'inputPreview', 'outputPreview', 'receivedAt'),
};

export type ListedRow = Pick<typeof events.$inferSelect, keyof typeof listedColumns>;

const text = z.string().nullable();
const count = z.number().nullable();

export const listedEvent = z
  .object({
    id: z.guid(),
    type: z.enum(events.type.enumValues),
    state: z.enum(events.state.enumValues),
    /** The name of the model or tool. */
    name: text,
    source: z.string(),
    traceId: z.guid().nullable(),
    threadId: text,
    agentId: text,
    agentGroupId: text,
    userId: text,
    startTimeMs: z.number(),
    endTimeMs: z.number(),
    durationMs: z.number(),
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    /** Input tokens that were read from, or written to, a cache. */
    cacheReadTokens: count,
    cacheWriteTokens: count,
    /** Output tokens that were reasoning. */
    reasoningTokens: count,
    /** Usage with separate prices: tokens within the counts above, and web searches. */
    usageParts: z.partialRecord(z.enum(usagePartNames), z.number()).nullable(),
    /** The conditions of the price: the service tier, the region, the size of the input. */
    priceClass: text,
    /** US dollars. If the sender reported it, it is the cost. */
    reportedCost: text,
    /** US dollars, an exact decimal: as reported, or at the price of the day; null without both. */
    cost: text,
    /** `at_least` when a kind of usage has no price of its own. */
    costBound: z.enum(costBounds),
    errorCode: text,
    errorHttpStatus: text,
    errorMessage: text,
    /** The first characters. */
    inputPreview: text,
    outputPreview: text,
    /** When ingest received it, ISO 8601. */
    receivedAt: z.iso.datetime(),
    flags: z.array(eventFlag),
  } satisfies Record<keyof ListedRow | 'cost' | 'costBound' | 'flags', z.ZodType>)
  .meta({ id: 'ListedEvent' });
export type ListedEvent = z.infer<typeof listedEvent>;

/** Converts rows to listed events with their costs; further columns of the rows are kept. */
export async function showEvents<Row extends ListedRow>(
  database: Database,
  spaceId: string,
  rows: readonly Row[],
): Promise<(Omit<Row, keyof ListedEvent> & ListedEvent)[]> {
  const costs = await costsOfEvents(database, spaceId, rows);
  return rows.map((row, place) => {
    const { cost = null, bound = 'exact', differs = false } = costs[place] ?? {};
    const flags = flagEvent(row, differs);
    return { ...row, receivedAt: row.receivedAt.toISOString(), cost, costBound: bound, flags };
  });
}
