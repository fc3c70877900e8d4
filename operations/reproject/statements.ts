import { type SQL, sql } from 'drizzle-orm';
import { columnNames, columnTypes } from '../../event/columns.ts';
import { events } from '../../store/db/schema.ts';
import {
  arrayParameter,
  type CompiledStatement,
  compileStatement,
  listOf,
  nameOf,
  namesOf,
  numberOf,
} from '../../store/db/statement.ts';
import {
  agentStatistics,
  type CountedRows,
  isByName,
  nameStatistics,
} from '../../store/write/statistics/statistics.ts';

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

/**
 * Columns that an event may have from another span of its trace: its text does not say them then (ADR 27).
 */
const inherited: readonly string[] = ['agentId', 'threadId', 'userId'];
const updated = columnNames.filter((name) => name !== 'id' && name !== 'segmentIndex');
type UpdatedName = (typeof updated)[number];

/** What statistics count of an event. */
const measured: readonly UpdatedName[] = [
  ...(['type', 'name', 'source', 'state', 'agentId', 'startTimeMs', 'durationMs'] as const),
  ...(['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const),
  ...(['reasoningTokens', 'usageParts', 'priceClass', 'reportedCost'] as const),
];

/**
 * Updates the rows of a segment whose columns differ, and corrects the statistics by what they then count.
 * Rows deleted meanwhile stay deleted.
 */
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

/** The value that statistics count. */
function measureIn(name: UpdatedName, row: 'kept' | 'event'): SQL {
  const value = valueIn(name, row);
  const unstored = sent.find(([column]) => column === events[name]);
  return row === 'event' || unstored === undefined
    ? value
    : sql`coalesce(${value}, event.${sql.identifier(unstored[1])})`;
}

/** The changed events with the sign by which they are counted. */
function measureOf(row: 'kept' | 'event', sign: 1 | -1): SQL {
  const values = measured.map((name) => sql`${measureIn(name, row)} AS ${nameOf(events[name])}`);
  const isChanged = measured.map((name) => {
    const [before, after] = [measureIn(name, 'kept'), measureIn(name, 'event')];
    const cast = columnTypes[name] === 'json' ? sql`::text` : sql``;
    return sql`${before}${cast} IS DISTINCT FROM ${after}${cast}`;
  });
  return sql`
  SELECT ${numberOf(sign)} AS sign, true AS ${isByName}, ${uuidParameter(spaceId)} AS ${nameOf(events.spaceId)}, ${listOf(values)}
  FROM event JOIN kept USING (${namesOf([events.segmentIndex, events.id])}) WHERE ${sql.join(isChanged, sql` OR `)}`;
}

function buildUpdate(): SQL {
  const rows: CountedRows = { from: sql`measured`, isSigned: true };
  return sql`
WITH event AS MATERIALIZED (SELECT * FROM ${unnestColumns()}
), kept AS MATERIALIZED (
  SELECT * FROM ${events}
  WHERE ${events.spaceId} = ${uuidParameter(spaceId)} AND ${events.segmentId} = ${uuidParameter(segmentId)}
), updated AS (
  UPDATE ${events} AS kept
  SET ${listOf(updated.map((name) => sql`${nameOf(events[name])} = ${valueIn(name, 'event')}`))}
  FROM event
  WHERE kept.${nameOf(events.spaceId)} = ${uuidParameter(spaceId)} AND kept.${nameOf(events.segmentId)} = ${uuidParameter(segmentId)}
    AND kept.${nameOf(events.segmentIndex)} = event.${nameOf(events.segmentIndex)} AND kept.${nameOf(events.id)} = event.${nameOf(events.id)}
    AND (${compared(updated, 'kept')}) IS DISTINCT FROM (${compared(updated, 'event')})
  RETURNING kept.${nameOf(events.id)}
), measured AS MATERIALIZED (
  ${measureOf('event', 1)} UNION ALL ${measureOf('kept', -1)}
), ${nameStatistics(rows)}, ${agentStatistics(rows)}
SELECT count(*)::integer AS changed FROM updated`;
}
