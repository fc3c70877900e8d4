import type { PgColumn } from 'drizzle-orm/pg-core';
import { columnNames } from '../../event/columns.ts';
import type { Part } from '../../platform/queue/group.ts';
import { events, segments } from '../db/schema.ts';
import type { CompiledStatement } from '../db/statement.ts';
import { termsOfPart } from './part-terms.ts';

/** A column with one value per part: a column of `parts` in the store statement. */
export interface PartColumn {
  readonly name: string;
  readonly type: string;
  /**
   * The part's element of the array literal. `bodyStart` is the position of its body among all bodies, from
   * 1.
   */
  readonly element: (part: Part, bodyStart: number) => string | number;
}

const ofColumn = (column: PgColumn, element: PartColumn['element']): PartColumn => ({
  name: column.name,
  type: column.getSQLType(),
  element,
});

/** Whether the part comes from a replay. */
export const replayedColumn = 'replayed';

export const partColumns: readonly PartColumn[] = [
  ofColumn(events.spaceId, (part) => part.spaceId),
  ofColumn(events.segmentId, (part) => part.segmentId),
  ofColumn(segments.apiKeyId, (part) => part.apiKeyId),
  ofColumn(events.receivedAt, (part) => `"${new Date(Number(part.receivedAtMs)).toISOString()}"`),
  ofColumn(segments.eventCount, (part) => part.eventCount),
  ofColumn(segments.rawBytes, (part) => Number(part.rawBytes)),
  // Postgres has no two-dimensional arrays of different lengths, so each part's terms are a text of an array
  // literal.
  {
    name: segments.terms.name,
    type: 'text',
    element: (part) => `"{${termsOfPart(part)}}"`,
  },
  ofColumn(segments.projection, (part) => part.projection),
  ofColumn(segments.queueStream, (part) => part.queueStream || 'NULL'),
  ofColumn(segments.queueSequence, (part) => (part.queueStream === '' ? 'NULL' : String(part.queueSequence))),
  { name: replayedColumn, type: 'boolean', element: (part) => String(part.replayed) },
  { name: 'body_start', type: 'integer', element: (_part, bodyStart) => bodyStart },
  { name: 'body_bytes', type: 'integer', element: (part) => part.body.length },
];

/**
 * The names of the parameters besides partColumns and the queue's columns, which are named like the columns.
 */
export const parameterNames = {
  bodies: 'bodies',
  /** The column of ids, a separate parameter. */
  id: 'id',
  /** The part of each event, counted from 1. */
  part: 'part',
  /** The positions of events whose id an earlier event of the statement has. */
  repeated: 'repeated',
} as const;

/** Further parameters of a replay: the entry that is removed. */
export const entryParameters = { spaceId: 'entry_space', id: 'entry_id', hash: 'entry_hash' } as const;

/**
 * The parameters of the store statement for these parts, by name: the bodies of all parts, one after another,
 * and array literals as text, with an element for each part or for each event. The bodies are one value, cut
 * by position, so that they need no quoting.
 * @param parts well-formed.
 * @param repeated positions of events whose id an earlier event has (findRepeatedIds).
 */
export function parameterValues(
  parts: readonly Part[],
  repeated: readonly number[],
): Map<string, string | Buffer> {
  const perPart = (element: (part: Part, index: number) => string | number) =>
    `{${parts.map(element).join(',')}}`;
  let bodyEnd = 1;
  const bodyStarts = parts.map(({ body }) => {
    bodyEnd += body.length;
    return bodyEnd - body.length;
  });
  return new Map<string, string | Buffer>([
    [parameterNames.bodies, Buffer.concat(parts.map((part) => part.body))],
    ...partColumns.map(
      ({ name, element }) => [name, perPart((part, index) => element(part, bodyStarts[index] ?? 0))] as const,
    ),
    [parameterNames.part, perPart((part, index) => repeat(index + 1, part.eventCount))],
    [parameterNames.repeated, `{${repeated.join(',')}}`],
    // An empty column stands for NULLs: see weir.queue.v1.Columns.
    ...columnNames.map(
      (name) => [name, perPart((part) => part.columns?.[name] || repeat('NULL', part.eventCount))] as const,
    ),
  ]);
}

function repeat(element: string | number, count: number): string {
  return `${element},`.repeat(count).slice(0, -1);
}

/** The values of a statement's parameters, in its order. */
export function orderParameters(
  { parameters }: CompiledStatement,
  values: ReadonlyMap<string, string | Buffer>,
): (string | Buffer)[] {
  return parameters.map((name) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the store statement has an unknown parameter ${name}`);
    return value;
  });
}
