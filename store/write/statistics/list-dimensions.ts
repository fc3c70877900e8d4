import { and, asc, eq, isNull, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { dimensions, dimensionValues, segments, spaces } from '../../db/schema.ts';

/** What statistics of a space are kept by, besides type, name and source (ADR 45). */
export const listedDimension = z
  .object({
    /** `user`, `agent` or `attr.KEY`: what charts are grouped by. */
    name: z.string(),
    /** From 0 to 1. Until it is 1, charts by it lack older events. */
    counted: z.number(),
    /** Values that have statistics. */
    values: z.number(),
  })
  .meta({ id: 'Dimension' });
type ListedDimension = z.infer<typeof listedDimension>;

/** What is wanted, in order. */
export async function listDimensions(database: Database, spaceId: string): Promise<ListedDimension[]> {
  const [space] = await database
    .select({ names: spaces.dimensions })
    .from(spaces)
    .where(eq(spaces.id, spaceId));
  if (space === undefined || space.names.length === 0) return [];
  const kept = await database
    .select()
    .from(dimensions)
    .where(and(eq(dimensions.spaceId, spaceId), isNull(dimensions.removedAt), ne(dimensions.name, '')));
  const byName = new Map(kept.map((one) => [one.name, one]));
  const isCounting = kept.some(({ countedAt }) => countedAt === null);
  const firstMs = isCounting ? await readFirst(database, spaceId) : undefined;
  return Promise.all(
    space.names.map(async (name): Promise<ListedDimension> => {
      const one = byName.get(name);
      if (one === undefined) return { name, counted: 0, values: 0 };
      const { number } = one;
      const ofDimension = and(eq(dimensionValues.spaceId, spaceId), eq(dimensionValues.number, number));
      return {
        name,
        counted: countedOf(one, firstMs),
        values: await database.$count(dimensionValues, ofDimension),
      };
    }),
  );
}

/** By the times in the ids of segments, in whose order they are counted. */
function countedOf(
  { cursor, declaredAt, countedAt }: typeof dimensions.$inferSelect,
  firstMs: number | undefined,
): number {
  if (countedAt !== null) return 1;
  if (cursor === null || firstMs === undefined) return 0;
  const all = Math.max(1, declaredAt.getTime() - firstMs);
  return Math.min(0.99, Math.max(0, (timeOf(cursor) - firstMs) / all));
}

async function readFirst(database: Database, spaceId: string): Promise<number | undefined> {
  const [first] = await database
    .select({ id: segments.id })
    .from(segments)
    .where(eq(segments.spaceId, spaceId))
    .orderBy(asc(segments.id))
    .limit(1);
  return first && timeOf(first.id);
}

/** Of a UUIDv7, in milliseconds since the epoch. */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}
