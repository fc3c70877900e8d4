import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { events, segments, traceNodes, traces } from '../db/schema.ts';
import { listOf, nameOf } from '../db/statement.ts';

/** The parameters of the statement that changes events: JSON arrays of records, the rows `change`. */

const { id, segmentId, traceId, agentId, threadId, userId } = events;
export const context = { agentId, threadId, userId };
const key = { traceId, id, segmentId };
const { spaceId: _space, receivedAt: _received, ...own } = getTableColumns(events);
export const ofEvent = own;
const { attributes: _attributes, ...withoutAttributes } = ofEvent;
const { mergedEventId } = traceNodes;

/** The columns of each parameter, by the names of members. Those that no table has are texts. */
export const columns = {
  trace: {
    traceId,
    version: traces.version,
    nextVersion: 'next_version',
    isResolved: 'is_resolved',
  },
  node: {
    traceId,
    spanId: traceNodes.spanId,
    ...context,
    mergedEventId,
    isRemoved: 'is_removed',
    isDropped: 'is_dropped',
  },
  fill: { ...key, ...context },
  replaced: withoutAttributes,
  removed: key,
  segment: {
    id: segments.id,
    terms: segments.terms,
    hash: 'hash',
    body: 'base64',
    rawBytes: segments.rawBytes,
    removed: 'removed',
    isEmpty: 'is_empty',
  },
} as const satisfies Record<string, Record<string, PgColumn | string>>;

/** The types of the columns that no table has. */
const types: Readonly<Record<string, string>> = {
  next_version: 'bigint',
  is_resolved: 'boolean',
  is_removed: 'boolean',
  is_dropped: 'boolean',
  hash: 'text',
  base64: 'text',
  removed: 'integer',
  is_empty: 'boolean',
};

/** The rows of a parameter, as `change`. */
export function rowsOf(parameter: string, named: Readonly<Record<string, PgColumn | string>>): SQL {
  const defined = Object.values(named).map((column) =>
    typeof column === 'string'
      ? sql`${sql.identifier(column)} ${sql.raw(types[column] ?? 'text')}`
      : sql`${nameOf(column)} ${sql.raw(column.getSQLType())}`,
  );
  return sql`json_to_recordset(${sql.placeholder(parameter)}::json) AS change(${listOf(defined)})`;
}
