import { z } from 'zod';
import { events } from '../../../store/db/schema.ts';
import type { SpaceRows } from '../space-data.ts';
import { type ListedRow, listedColumns, listedEvent, showEvents } from './listed-event.ts';

/** Longest value of an attribute in a list, in characters: the whole is in the event. */
const shownCharsMax = 256;

/** An event in a list that shows attributes as columns. */
export const eventRow = listedEvent
  .extend({
    /** The values of the attributes that `attributeKeys` names, by key, cut after 256 characters. */
    attributeValues: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'EventRow' });
export type EventRow = z.infer<typeof eventRow>;

type Attributes = typeof events.$inferSelect.attributes;

const withAttributes = { ...listedColumns, attributes: events.attributes };

/** The columns to select for {@link showRows}. */
export function columnsFor(attributeKeys: readonly string[]): typeof listedColumns {
  return attributeKeys.length === 0 ? listedColumns : withAttributes;
}

/** Converts rows of {@link columnsFor} to events with the values of these attributes. */
export async function showRows(
  { database, spaceId }: SpaceRows,
  rows: readonly (ListedRow & { attributes?: Attributes })[],
  attributeKeys: readonly string[],
): Promise<EventRow[]> {
  const shown = await showEvents(database, spaceId, rows);
  if (attributeKeys.length === 0) return shown;
  return shown.map(({ attributes, ...event }) => ({
    ...event,
    attributeValues: valuesOf(attributes ?? {}, attributeKeys),
  }));
}

function valuesOf(attributes: NonNullable<Attributes>, keys: readonly string[]): Record<string, string> {
  const values = keys.flatMap((key) =>
    Object.hasOwn(attributes, key)
      ? [[key, String(attributes[key]).slice(0, shownCharsMax).toWellFormed()]]
      : [],
  );
  return Object.fromEntries(values);
}
