import type { NatsConnection } from '@nats-io/transport-node';
import { sql } from 'drizzle-orm';
import { controlBytesMax } from '../../store/control/limits.ts';
import { readControlState } from '../../store/control/stream.ts';
import type { Database } from '../../store/db/database.ts';
import { controlChanges } from '../../store/db/schema.ts';
import { failed, ok, type Verdict } from './finding.ts';
import { pendingChangeSecondsMax } from './limits.ts';

/** Checks that the control stream exists, and says how far back it reaches. */
export async function checkControlStream(connection: NatsConnection): Promise<Verdict> {
  const state = await readControlState(connection);
  if (state === undefined)
    return failed(
      'the stream does not exist',
      `Start a writer: it creates it. If its log says that nats-server has no storage for it, give it ${controlBytesMax} bytes: lower QUEUE_BYTES_MAX, or raise max_file.`,
    );
  const since = state.oldestAt === undefined ? '' : `, the oldest of ${state.oldestAt.toISOString()}`;
  const used = Math.round((100 * state.bytes) / state.bytesMax);
  return ok(`${state.messages} messages${since}; ${used}% of ${state.bytesMax} bytes are used`);
}

/** A change that waits for the control stream would be lost with the database. */
export async function checkPendingChanges(database: Database): Promise<Verdict> {
  const [row] = await database.execute<{ changes: number; seconds: number | null }>(sql`
    SELECT count(*)::integer AS changes, extract(epoch FROM clock_timestamp() - min(${controlChanges.at}))::float8 AS seconds
    FROM ${controlChanges}`);
  const { changes = 0, seconds = 0 } = row ?? {};
  const found = `${changes} changes wait for the control stream`;
  if ((seconds ?? 0) <= pendingChangeSecondsMax) return ok(found);
  return failed(
    `${found}, the oldest for ${Math.round(seconds ?? 0)} s`,
    'Start a writer, and read its log.',
  );
}
