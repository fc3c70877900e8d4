import { findMember, isKey, type Range, skipValue, walkObject } from '../../../event/json/scan.ts';
import type { Database } from '../../../store/db/database.ts';
import { parentProperty, type SpanEvent, withParents } from '../../../store/traces/parent-events.ts';

type Attributes = SpanEvent['attributes'];

const comma = ','.charCodeAt(0);

/** Corrects parents in stored texts that were merged into another event since, or are none any more. */
export async function correctParents<Row extends SpanEvent>(
  database: Database,
  spaceId: string,
  rows: readonly (readonly [Row, string])[],
): Promise<[Row, string][]> {
  const naming = rows.flatMap(([row]) => (row.attributes?.[parentProperty] === undefined ? [] : [row]));
  const current = await withParents(database, spaceId, naming);
  const attributesOf = new Map(current.map(({ id, attributes }) => [id, attributes]));
  return rows.map(([row, text]) => [
    row,
    correctParent(text, row.attributes, attributesOf.get(row.id) ?? row.attributes),
  ]);
}

/** Edits only the member with the parent, and only if it differs. */
export function correctParent(text: string, stored: Attributes, current: Attributes): string {
  const parent = current?.[parentProperty];
  if (stored?.[parentProperty] === undefined || stored[parentProperty] === parent) return text;
  const bytes = Buffer.from(text);
  const properties = findMember(bytes, 'additionalProperties');
  if (properties === undefined) return text;
  let key: Range | undefined;
  let valueEnd = 0;
  walkObject(bytes, properties.start, (nameRange, start) => {
    const end = skipValue(bytes, start);
    if (isKey(bytes, nameRange, parentProperty)) [key, valueEnd] = [nameRange, end];
    return end;
  });
  if (key === undefined) return text;
  const [before, after] = [bytes.subarray(0, key.start), bytes.subarray(valueEnd)];
  const parts =
    parent === undefined
      ? withoutComma(before, after)
      : [before, `${JSON.stringify(parentProperty)}:${JSON.stringify(parent)}`, after];
  return parts.join('');
}

/** What is left around a member that is removed. Ingest writes JSON without spaces. */
function withoutComma(before: Buffer, after: Buffer): Buffer[] {
  if (after[0] === comma) return [before, after.subarray(1)];
  return [before.at(-1) === comma ? before.subarray(0, -1) : before, after];
}
