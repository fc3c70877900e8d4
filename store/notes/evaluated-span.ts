import { type SQL, sql } from 'drizzle-orm';
import { notes, traceNodes } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';

/**
 * What a note on a span is on, by the stored span `node`: its event, or the one into which this was merged,
 * or else its trace.
 */

const node = {
  traceId: sql`node.${nameOf(traceNodes.traceId)}`,
  spanId: sql`node.${nameOf(traceNodes.spanId)}`,
};
const eventId = sql`coalesce(node.${nameOf(traceNodes.mergedEventId)}, node.${nameOf(traceNodes.eventId)})`;

/** The columns of a note on the span; null without one. */
export const ofNode = {
  ...node,
  target: sql`CASE WHEN ${eventId} IS NOT NULL THEN 'event' WHEN ${node.traceId} IS NOT NULL THEN 'trace' END`,
  targetId: sql`coalesce(${eventId}, ${node.traceId})::text`,
};

/** The condition that `node` is a span of the space. */
export function isNodeOf(space: SQL, { traceId, spanId }: { traceId: SQL; spanId: SQL }): SQL {
  return sql`node.${nameOf(traceNodes.spaceId)} = ${space} AND ${node.traceId} = ${traceId} AND ${node.spanId} = ${spanId}`;
}

/**
 * Puts the notes on spans of resolved traces on what these have become. A target may get more notes than can
 * be added to it. Those on spans that are not stored stay as they are.
 * @param areResolved the condition on the id of a note's trace.
 */
export function settleNotes(space: SQL, areResolved: (traceId: SQL) => SQL): SQL {
  const kept = {
    traceId: sql`kept.${nameOf(notes.traceId)}`,
    spanId: sql`kept.${nameOf(notes.spanId)}`,
  };
  const [target, targetId] = [nameOf(notes.target), nameOf(notes.targetId)];
  return sql`
  UPDATE ${notes} AS kept SET ${target} = ${ofNode.target}, ${targetId} = ${ofNode.targetId}
  FROM ${traceNodes} AS node
  WHERE kept.${nameOf(notes.spaceId)} = ${space} AND ${areResolved(kept.traceId)} AND ${isNodeOf(space, kept)}
    AND (kept.${target}, kept.${targetId}) <> (${ofNode.target}, ${ofNode.targetId})
  RETURNING kept.${nameOf(notes.id)}`;
}
