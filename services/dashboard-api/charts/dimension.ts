import { and, eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { asStored, storableText } from '../../../event/text.ts';
import type { Database } from '../../../store/db/database.ts';
import { dimensions, dimensionValues, erasures } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import {
  dimensionKeyCharsMax,
  dimensionValueCharsMax,
  dimensionValuesMax,
} from '../../../store/write/limits.ts';
import { attributePrefix } from '../../../store/write/statistics/space-dimensions.ts';
import { refusal } from '../refusal.ts';

/** `user` and `attr.KEY` are dimensions that the space has declared. */
export const chartGroup = z.union([
  z.enum(['none', 'type', 'model', 'tool', 'source', 'agent', 'user']),
  z.templateLiteral([attributePrefix, z.string().max(dimensionKeyCharsMax)]),
]);
export type ChartGroup = z.infer<typeof chartGroup>;

/** Normalized like the column. */
const columnText = z.string().transform(asStored);

/** Of dimensions, a chart has one: as its group, as its filter, or both. */
export const chartFilter = {
  type: z.enum(['llm', 'tool']).optional(),
  name: columnText.optional(),
  source: columnText.optional(),
  agentId: columnText.optional(),
  userId: columnText.optional(),
  attribute: z.object({ key: z.string(), value: z.string() }).optional(),
};

/** `not`: values of columns that are not counted. */
export type ChartFilter = z.infer<z.ZodObject<typeof chartFilter>> & {
  not?: readonly { readonly column: ExcludedColumn; readonly value: string }[] | undefined;
};

/** Columns that statistics have for each event. */
const excludedColumns = ['type', 'name', 'source'] as const;
export type ExcludedColumn = (typeof excludedColumns)[number];

/**
 * The filter of a list as statistics have it, without its range.
 * @returns undefined when it has conditions that statistics do not have.
 */
export function toCountedList(list: EventFilter) {
  const { type, name, source, agentId, userId, state, attributes = [], not = [], ...others } = list;
  const { from: _from, to: _to, costRates: _rates, ...unknown } = others;
  const [attribute, second] = attributes;
  const states = (['ok', 'error'] as const).filter(
    (one) =>
      (state ?? one) === one &&
      !not.some((source) => 'column' in source && source.column === 'state' && source.value === one),
  );
  const further = not.filter((source) => !('column' in source && source.column === 'state'));
  const excluded = excludedColumns.flatMap((column) =>
    further.flatMap((source) =>
      'column' in source && source.column === column ? { column, value: asStored(source.value) } : [],
    ),
  );
  const isUnknown = Object.values(unknown).some(
    (value) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  // Statistics have the empty text for events without a value, which no filter matches.
  const isOfNone = [name, source, ...excluded.map(({ value }) => value)].includes('');
  if (isUnknown || isOfNone || second !== undefined || excluded.length < further.length) return undefined;
  const stored = (text: string | undefined) => (text === undefined ? undefined : asStored(text));
  const columns = { name: stored(name), source: stored(source), agentId: stored(agentId) };
  return { filter: { type, ...columns, userId: stored(userId), attribute, not: excluded }, states };
}

export interface ChartDimension {
  readonly number: number;
  readonly value: string | undefined;
  /** Whether it has counted all that was stored before it was declared. */
  readonly isComplete: boolean;
}

interface Sliced {
  readonly group: ChartGroup;
  readonly filter: ChartFilter;
  /** Whether the statistics of each model are read, as costs need them. */
  readonly byModel?: boolean;
}

/** @returns undefined when none is needed. @throws TRPCError BAD_REQUEST when statistics lack it. */
export async function findDimension(
  database: Database,
  spaceId: string,
  sliced: Sliced,
): Promise<ChartDimension | undefined> {
  const found = await lookUpDimension(database, spaceId, sliced);
  if (typeof found === 'string') throw refusal('BAD_REQUEST', found);
  return found;
}

/** The dimension by which a chart is grouped or filtered. @returns a text if statistics do not have it. */
export async function lookUpDimension(
  database: Database,
  spaceId: string,
  { group, filter, byModel = false }: Sliced,
): Promise<ChartDimension | string | undefined> {
  const { agentId, userId, attribute, type, name, source, not = [] } = filter;
  const wanted = new Map<string, string | undefined>();
  if (group === 'agent' || group === 'user' || group.startsWith(attributePrefix))
    wanted.set(group, undefined);
  if (agentId !== undefined) wanted.set('agent', agentId);
  if (userId !== undefined) wanted.set('user', userId);
  if (attribute !== undefined) wanted.set(`${attributePrefix}${attribute.key}`, attribute.value);
  const [first, second] = wanted.keys();
  if (first === undefined) return undefined;
  if (second !== undefined)
    return `groupBy: statistics do not combine ${first} with ${second}. Choose one of them.`;
  // Statistics by agent alone, without models, are kept in every space, and have fewer rows than a dimension.
  const isAlone =
    !byModel &&
    [type, name, source, ...not].every((one) => one === undefined) &&
    (group === 'agent' || group === 'none');
  const [declared] = await database
    .select({ number: dimensions.number, countedAt: dimensions.countedAt })
    .from(dimensions)
    .where(and(eq(dimensions.spaceId, spaceId), eq(dimensions.name, first), isNull(dimensions.removedAt)));
  if (
    first === 'agent' &&
    isAlone &&
    (declared === undefined || declared.countedAt === null || !(await areSomeErased(database, spaceId)))
  )
    return undefined;
  if (declared === undefined)
    return first === 'agent'
      ? 'agentId: a chart by agent has no costs, and no filter or group by type, model, tool or source, unless the space declares the dimension agent.'
      : `groupBy: ${first} is not a dimension of the space. An admin can declare it in the space settings.`;
  const { number, countedAt } = declared;
  const isComplete = countedAt !== null;
  const value = wanted.get(first);
  if (value === undefined) return { number, value, isComplete };
  return (await isOwnValue(database, spaceId, { number, value }))
    ? { number, value: storableText(value), isComplete }
    : `groupBy: the value is counted with others: statistics have the first ${dimensionValuesMax} values of ${first}, of up to ${dimensionValueCharsMax} characters.`;
}

/** Whether statistics that are not of a dimension may count erased events. */
export async function areSomeErased(database: Database, spaceId: string): Promise<boolean> {
  const erased = database.select({ id: erasures.id }).from(erasures).where(eq(erasures.spaceId, spaceId));
  return (await erased.limit(1)).length > 0;
}

/** Whether a value has separate statistics, or would have. */
async function isOwnValue(
  database: Database,
  spaceId: string,
  { number, value }: { number: number; value: string },
): Promise<boolean> {
  const stored = storableText(value);
  if ([...stored].length > dimensionValueCharsMax) return false;
  const ofDimension = and(eq(dimensionValues.spaceId, spaceId), eq(dimensionValues.number, number));
  const [row] = await database.execute<{ isOwn: boolean }>(sql`
    SELECT EXISTS (SELECT FROM ${dimensionValues} WHERE ${ofDimension} AND ${eq(dimensionValues.value, stored)})
      OR (SELECT count(*) FROM ${dimensionValues} WHERE ${ofDimension}) < ${dimensionValuesMax}::bigint AS "isOwn"`);
  return row?.isOwn === true;
}
