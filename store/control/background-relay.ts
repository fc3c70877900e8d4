import type { NatsConnection } from '@nats-io/transport-node';
import { startLoop } from '../../platform/background-loop.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/log.ts';
import type { Database } from '../db/database.ts';
import { relayPollMs } from './limits.ts';
import { relayControlChanges } from './relay.ts';
import { ensureControlStream } from './stream.ts';

/**
 * Creates the control stream, and relays what others left: sign-ins, killed processes, programs without
 * queue.
 */
export function startBackgroundRelay({
  database,
  connection,
  config,
  log,
}: {
  database: Database;
  connection: NatsConnection;
  config: Pick<Config, 'NATS_REPLICAS'>;
  log: Logger;
}): AsyncDisposable {
  let isEnsured = false;
  const run = async () => {
    try {
      if (!isEnsured) await ensureControlStream(connection, config);
      isEnsured = true;
      await relayControlChanges(database, connection);
    } catch (error) {
      // The stream may have been deleted.
      isEnsured = false;
      throw error;
    }
  };
  const failure = 'changes are not in the control stream yet; trying again';
  return startLoop({ run, intervalMs: relayPollMs, failure }, log);
}
