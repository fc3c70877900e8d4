import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/log.ts';
import type { Database } from '../db/database.ts';
import { relayPollMs } from './limits.ts';
import { relayControlChanges } from './relay.ts';
import { ensureControlStream } from './stream.ts';

/**
 * Creates the control stream, and relays to it once a second what others have left: sign-ins, processes that were killed, programs
 * without a queue. Every writer does it.
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
  const stopping = new AbortController();
  let [isEnsured, isLogged] = [false, false];
  const relayOnce = async () => {
    try {
      if (!isEnsured) await ensureControlStream(connection, config);
      isEnsured = true;
      await relayControlChanges(database, connection);
      isLogged = false;
    } catch (error) {
      // The stream may have been deleted.
      isEnsured = false;
      if (!isLogged && !stopping.signal.aborted)
        log.warn({ err: error }, 'changes are not in the control stream yet; trying again');
      isLogged = true;
    }
  };
  const relaying = (async () => {
    while (!stopping.signal.aborted) {
      await relayOnce();
      await sleep(relayPollMs, undefined, stopping).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await relaying;
    },
  };
}
