import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../../platform/log.ts';
import { withTimeout } from '../../platform/timeout.ts';
import type { Database } from '../db/database.ts';
import { relayPauseMs, relayWaitMs } from './limits.ts';
import { relayControlChanges } from './relay.ts';

export interface AnsweringRelay {
  /** Relays over this connection from now on. Without one nothing is relayed here: writers do it. */
  connect(connection: NatsConnection): void;
  /**
   * Resolves when the stream has every change committed before the call, or after `relayWaitMs`. Never
   * rejects: the changes are in force, and writers relay them later (ADR 32).
   */
  relay(): Promise<void>;
}

/** Calls share relays, but wait for the next one: one that runs may have read the changes before. */
export function openAnsweringRelay(database: Database, log: Logger): AnsweringRelay {
  let connection: NatsConnection | undefined;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let pausedUntilMs = 0;
  const start = (through: NatsConnection) => {
    next ??= running.then(() => {
      next = undefined;
      const relaying = relayControlChanges(database, through);
      running = relaying.then(
        () => {},
        () => {},
      );
      return relaying.then(() => {});
    });
    return next;
  };
  return {
    connect(opened) {
      connection = opened;
    },
    async relay() {
      if (connection === undefined || performance.now() < pausedUntilMs) return;
      try {
        await withTimeout(relayWaitMs, start(connection));
      } catch (error) {
        pausedUntilMs = performance.now() + relayPauseMs;
        log.warn(
          { err: error },
          'a change is done, but not in the control stream yet: it would be lost with the database',
        );
      }
    },
  };
}
