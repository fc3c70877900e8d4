import { type SQL, sql } from 'drizzle-orm';
import { columnTypes, storedColumnNames } from '../../event/columns.ts';
import { events } from '../../store/db/schema.ts';
import {
  arrayParameter,
  type CompiledStatement,
  compileStatement,
  listOf,
  nameOf,
  namesOf,
} from '../../store/db/statement.ts';

/** Parameters of the statements besides the columns, which are named like the columns. */
export const parameterNames = { spaceId: 'space', segmentId: 'segment', indexes: 'indexes' } as const;

const { spaceId, segmentId, indexes } = parameterNames;
const uuidParameter = (name: string) => sql`${sql.placeholder(name)}::uuid`;

/** The columns of the events of one segment, as rows of `event`. */
function unnestColumns(): SQL {
  const arrays = storedColumnNames.map((name) =>
    arrayParameter(name === 'segmentIndex' ? indexes : name, columnTypes[name]),
  );
  return sql`unnest(${listOf(arrays)}) AS event(${namesOf(storedColumnNames.map((name) => events[name]))})`;
}

/**
 * Columns that an event may have from another span of its trace: its text does not say them then (ADR 27).
 */
const inherited: readonly string[] = ['agentId', 'threadId', 'userId'];

/** Updates the rows of a segment whose columns differ. Rows deleted meanwhile stay deleted. */
export const updateColumns: CompiledStatement = compileStatement(buildUpdate());

function buildUpdate(): SQL {
  const names = storedColumnNames.filter((name) => name !== 'id' && name !== 'segmentIndex');
  // Postgres's json type has no equality operator.
  const valueIn = (name: (typeof names)[number], row: 'kept' | 'event') => {
    const column = sql`${sql.identifier(row)}.${nameOf(events[name])}`;
    return row === 'event' && inherited.includes(name)
      ? sql`coalesce(${column}, kept.${nameOf(events[name])})`
      : column;
  };
  const compared = (row: 'kept' | 'event') =>
    listOf(
      names.map((name) => {
        const column = valueIn(name, row);
        return columnTypes[name] === 'json' ? sql`${column}::text` : column;
      }),
    );
  return sql`
  UPDATE ${events} AS kept
  SET ${listOf(names.map((name) => sql`${nameOf(events[name])} = ${valueIn(name, 'event')}`))}
  FROM ${unnestColumns()}
  WHERE kept.${nameOf(events.spaceId)} = ${uuidParameter(spaceId)} AND kept.${nameOf(events.segmentId)} = ${uuidParameter(segmentId)}
    AND kept.${nameOf(events.segmentIndex)} = event.${nameOf(events.segmentIndex)} AND kept.${nameOf(events.id)} = event.${nameOf(events.id)}
    AND (${compared('kept')}) IS DISTINCT FROM (${compared('event')})`;
}
