import postgres from 'postgres';
import type { Config } from '../platform/config.ts';
import { connectQueue } from '../platform/queue/connect.ts';
import { messageOf } from '../platform/thrown.ts';
import { withTimeout } from '../platform/timeout.ts';
import { hasPendingChanges, relayControlChanges } from '../store/control/relay.ts';
import { ensureControlStream } from '../store/control/stream.ts';
import type { Sql } from '../store/db/connect.ts';
import { openDatabase } from '../store/db/database.ts';
import { type Host, printMessage } from './host.ts';

/** How long a command waits for the control stream: less than the election of a leader can take. */
const relayTimeoutMs = 5_000;

/** SQLSTATE undefined_table: not migrated yet. And insufficient_privilege: then a writer relays. */
const withoutLog: readonly string[] = ['42P01', '42501'];

/**
 * Puts the changes of a command into the control stream before the command ends (ADR 32). A writer relays
 * them within a second without NATS_URL, and when the queue is away, of which the command warns: they are in
 * force.
 */
export async function relayChanges(host: Host, sql: Sql, config: Config): Promise<void> {
  const { NATS_URL: url } = config;
  if (url === undefined) return;
  const database = openDatabase(sql);
  const isPending = await hasPendingChanges(database).catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && withoutLog.includes(error.code)) return false;
    throw error;
  });
  if (!isPending) return;
  const relay = async () => {
    await using connection = await connectQueue(url, 'weir-cli');
    await ensureControlStream(connection, config);
    await relayControlChanges(database, connection);
  };
  await withTimeout(relayTimeoutMs, relay()).catch((error: unknown) =>
    printMessage(
      host,
      `Done, but not in the control stream yet (${messageOf(error)}): a writer adds it when the queue answers. Until then it would be lost with the database.`,
    ),
  );
}
