import type { PgColumn } from 'drizzle-orm/pg-core';
import { events, segments } from '../db/schema.ts';
import { columnNames } from '../event/columns.ts';
import type { Part } from '../queue/group.ts';
import { termsOfParts } from './part-terms.ts';
import { findRepeatedIds } from './repeated-ids.ts';

/** A column that a part has once: the columns of `parts` in the store statement. */
interface PartColumn {
  readonly name: string;
  readonly type: string;
  /** The part's element of the array literal. */
  readonly element: (part: Part, derived: Derived) => string | number;
}

/** What is computed from all parts of a statement. */
interface Derived {
  /** The position of the part's body among all bodies, from 1. */
  readonly bodyStart: number;
  /** The terms of the part's segment, as the inside of an array literal. */
  readonly terms: string;
}

const ofColumn = (column: PgColumn, element: PartColumn['element']): PartColumn => ({
  name: column.name,
  type: column.getSQLType(),
  element,
});

export const partColumns: readonly PartColumn[] = [
  ofColumn(events.spaceId, (part) => part.spaceId),
  ofColumn(events.segmentId, (part) => part.segmentId),
  ofColumn(segments.apiKeyId, (part) => part.apiKeyId),
  ofColumn(events.receivedAt, (part) => `"${new Date(Number(part.receivedAtMs)).toISOString()}"`),
  ofColumn(segments.eventCount, (part) => part.eventCount),
  ofColumn(segments.rawBytes, (part) => Number(part.rawBytes)),
  // Arrays of different lengths make no array of two dimensions, so each is a literal within the literal.
  {
    name: segments.terms.name,
    type: 'text',
    element: (_part, { terms }) => `"{${terms}}"`,
  },
  ofColumn(segments.projection, (part) => part.projection),
  { name: 'body_start', type: 'integer', element: (_part, { bodyStart }) => bodyStart },
  { name: 'body_bytes', type: 'integer', element: (part) => part.body.length },
];

/** The names of the other parameters, beside those of partColumns and the queue's columns, which have their names. */
export const parameterNames = {
  bodies: 'bodies',
  /** The column of ids, a parameter apart. */
  id: 'id',
  /** The part of each event, counted from 1. */
  part: 'part',
  /** The positions of events whose id an earlier event of the statement has. */
  repeated: 'repeated',
} as const;

/**
 * The parameters of the store statement for these parts, by name: the bodies of all parts, one after another, and array
 * literals as text, with an element for each part or for each event. The bodies are one value, cut by position, so that
 * they need no quoting.
 *
 * @param parts well-formed.
 */
export function parameterValues(parts: readonly Part[]): Map<string, string | Buffer> {
  const perPart = (element: (part: Part, index: number) => string | number) =>
    `{${parts.map(element).join(',')}}`;
  const terms = termsOfParts(parts);
  let bodyStart = 1;
  const derived = parts.map((part, index): Derived => {
    const own = { bodyStart, terms: terms[index] ?? '' };
    bodyStart += part.body.length;
    return own;
  });
  return new Map<string, string | Buffer>([
    [parameterNames.bodies, Buffer.concat(parts.map((part) => part.body))],
    ...partColumns.map(
      ({ name, element }) =>
        [
          name,
          perPart((part, index) => element(part, derived[index] ?? { bodyStart: 0, terms: '' })),
        ] as const,
    ),
    [parameterNames.part, perPart((part, index) => repeat(index + 1, part.eventCount))],
    [parameterNames.repeated, `{${findRepeatedIds(parts).join(',')}}`],
    // An empty column stands for NULLs: see weir.queue.v1.Columns.
    ...columnNames.map(
      (name) => [name, perPart((part) => part.columns?.[name] || repeat('NULL', part.eventCount))] as const,
    ),
  ]);
}

function repeat(element: string | number, count: number): string {
  return `${element},`.repeat(count).slice(0, -1);
}
