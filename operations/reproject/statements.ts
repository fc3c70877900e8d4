import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { columnNames, columnTypes } from '../../event/columns.ts';
import { events } from '../../store/db/schema.ts';
import {
  arrayParameter,
  type CompiledStatement,
  compileStatement,
  listOf,
  nameOf,
  namesOf,
} from '../../store/db/statement.ts';
import { changedRows, insertDeltas } from '../../store/write/statistics/deltas.ts';
import { selectCountedSegments, selectDimensions } from '../../store/write/statistics/space-dimensions.ts';

/** Parameters of the statement besides the columns, which are named like the columns. */
export const parameterNames = {
  ...{ spaceId: 'space', segmentId: 'segment', indexes: 'indexes' },
  ...{
    sentCacheRead: 'sent_cache_read',
    sentCacheWrite: 'sent_cache_write',
    sentReasoning: 'sent_reasoning',
  },
} as const;

const { spaceId, segmentId, indexes } = parameterNames;
const uuidParameter = (name: string) => sql`${sql.placeholder(name)}::uuid`;

/** What 0.1.0 counted and did not store in rows: the counts as they were sent. */
const sent = [
  [events.cacheReadTokens, parameterNames.sentCacheRead],
  [events.cacheWriteTokens, parameterNames.sentCacheWrite],
  [events.reasoningTokens, parameterNames.sentReasoning],
] as const;
const sentNames = listOf(sent.map(([, name]) => sql`${sql.identifier(name)}`));

/** The columns of the events of one segment, as rows of `event`. */
function unnestColumns(): SQL {
  const arrays = columnNames.map((name) =>
    arrayParameter(name === 'segmentIndex' ? indexes : name, columnTypes[name]),
  );
  const counts = sent.map(([column, name]) => arrayParameter(name, column.getSQLType()));
  const names = sql`${namesOf(columnNames.map((name) => events[name]))}, ${sentNames}`;
  return sql`unnest(${listOf([...arrays, ...counts])}) AS event(${names})`;
}

/** An event may have these from another span of its trace, so that its text lacks them (ADR 27). */
const inherited: readonly string[] = ['agentId', 'threadId', 'userId'];
const updated = columnNames.filter((name) => name !== 'id' && name !== 'segmentIndex');
type UpdatedName = (typeof updated)[number];

/** Updates differing rows of a segment, and corrects the statistics. Rows deleted meanwhile stay deleted. */
export const updateColumns: CompiledStatement = compileStatement(buildUpdate());

function valueIn(name: UpdatedName, row: 'kept' | 'event'): SQL {
  const column = sql`${sql.identifier(row)}.${nameOf(events[name])}`;
  if (row === 'event' && inherited.includes(name))
    return sql`coalesce(${column}, kept.${nameOf(events[name])})`;
  return column;
}

/** Postgres's json type has no equality operator. */
function compared(names: readonly UpdatedName[], row: 'kept' | 'event'): SQL {
  return listOf(
    names.map((name) =>
      columnTypes[name] === 'json' ? sql`${valueIn(name, row)}::text` : valueIn(name, row),
    ),
  );
}

/** What statistics have counted: 0.1.0 did not store all of it. */
function countedBefore(column: PgColumn): SQL {
  const unstored = sent.find(([one]) => one === column || one.name === column.name);
  const value = sql`(before).${nameOf(column)}`;
  return unstored === undefined ? value : sql`coalesce(${value}, ${sql.identifier(unstored[1])})`;
}

function buildUpdate(): SQL {
  return sql`
WITH space_dimensions AS MATERIALIZED (${selectDimensions(sql`${nameOf(events.spaceId)} = ${uuidParameter(spaceId)}`, sql`FOR SHARE`)}
), event AS MATERIALIZED (SELECT * FROM ${unnestColumns()} WHERE (SELECT count(*) FROM space_dimensions) >= 0
), updated AS (
  UPDATE ${events} AS kept
  SET ${listOf(updated.map((name) => sql`${nameOf(events[name])} = ${valueIn(name, 'event')}`))}
  FROM event
  WHERE kept.${nameOf(events.spaceId)} = ${uuidParameter(spaceId)} AND kept.${nameOf(events.segmentId)} = ${uuidParameter(segmentId)}
    AND kept.${nameOf(events.segmentIndex)} = event.${nameOf(events.segmentIndex)} AND kept.${nameOf(events.id)} = event.${nameOf(events.id)}
    AND (${compared(updated, 'kept')}) IS DISTINCT FROM (${compared(updated, 'event')})
  RETURNING old AS before, new AS after, ${sentNames}
), measured AS MATERIALIZED (${changedRows(sql`updated`, countedBefore)}
), counted_segments AS MATERIALIZED (${selectCountedSegments(uuidParameter(spaceId))}
), deltas AS (${insertDeltas({ from: sql`measured`, isStored: true })}
)
SELECT count(*)::integer AS changed FROM updated`;
}
