import { createHash } from 'node:crypto';
import type { Sql } from '../db/connect.ts';
import { encodePart, type Part } from '../queue/group.ts';
import type { Refusal } from './refusal.ts';
import { isolateEvent } from './slice.ts';

/** The space of a message whose space cannot be read. */
const noSpace = '00000000-0000-0000-0000-000000000000';

/**
 * Keeps an event that Postgres refused, with its raw bytes, until an operator replays it. The event's own id is the
 * key: a redelivery or a client's retry is kept once.
 */
export async function quarantineEvent(sql: Sql, part: Part, refusal: Refusal): Promise<void> {
  const id = part.columns?.id ?? '';
  // The event's id names its segment too: it is unique, and the same at every attempt.
  const alone = isolateEvent(part, id);
  await keep(sql, {
    spaceId: part.spaceId,
    id,
    receivedAtMs: Number(part.receivedAtMs),
    bytes: encodePart(alone),
    refusal,
  });
}

/** Keeps a message that is no weir.queue.v1.Group: nothing that was ever accepted is thrown away. */
export async function quarantineMessage(sql: Sql, bytes: Uint8Array, error: unknown): Promise<void> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  const id = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${hash.slice(12, 16)}-${hash.slice(16, 20)}-${hash.slice(20, 32)}`;
  const refusal = { sqlstate: '', message: `not a queue message: ${String(error)}` };
  await keep(sql, { spaceId: noSpace, id, receivedAtMs: Date.now(), bytes, refusal });
}

async function keep(
  sql: Sql,
  entry: { spaceId: string; id: string; receivedAtMs: number; bytes: Uint8Array; refusal: Refusal },
): Promise<void> {
  const { spaceId, id, receivedAtMs, bytes, refusal } = entry;
  await sql`
    INSERT INTO quarantine (space_id, id, received_at, event_count, sqlstate, message, part)
    VALUES (${spaceId}, ${id}, ${new Date(receivedAtMs)}, 1, ${refusal.sqlstate}, ${refusal.message}, ${Buffer.from(bytes)})
    ON CONFLICT DO NOTHING`;
}

/** What an operator sees of an entry. `id` is the event's id; the event itself is not shown. */
export interface QuarantineEntry {
  id: string;
  spaceId: string;
  receivedAt: Date;
  quarantinedAt: Date;
  eventCount: number;
  sqlstate: string;
  message: string;
}

/** The oldest entries first, of one space or of all. */
export async function listQuarantine(sql: Sql, spaceId?: string): Promise<QuarantineEntry[]> {
  return sql<QuarantineEntry[]>`
    SELECT id, space_id AS "spaceId", received_at AS "receivedAt", quarantined_at AS "quarantinedAt",
      event_count AS "eventCount", sqlstate, message
    FROM quarantine ${spaceId === undefined ? sql`` : sql`WHERE space_id = ${spaceId}`}
    ORDER BY quarantined_at, id`;
}
