import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../lib/db/connect.ts';
import { leaveReadOnlySession } from '../../lib/db/read-only.ts';
import { ackWaitMs, eventsPerStatementMax, statementBytesMax } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { decodeGroup, type Part } from '../../lib/queue/group.ts';
import { quarantineMessage } from '../../lib/write/quarantine.ts';
import { storeParts } from '../../lib/write/store.ts';
import { Backlog } from './backlog.ts';
import type { Delivered } from './delivered.ts';
import type { Receiver } from './delivery.ts';

/** After a transient failure a lane rests this long, and its messages come again about as much later. */
const retryDelayMs = 500;

export interface WriterDependencies {
  sql: Sql;
  log: Logger;
  /** How many statements run at once. */
  lanes: number;
}

/**
 * Moves messages from the queue into Postgres. While all lanes are busy the messages that arrive wait together, and
 * the next lane takes as many as fit into one statement: under load statements grow, at rest a message leaves at once.
 *
 * A message is acknowledged only after its COMMIT. What fails for a transient reason is handed back to be delivered
 * again; what Postgres refuses for good goes to quarantine (storeParts).
 *
 * Disposing it finishes the statements under way, and hands back what is waiting.
 */
export function startWriter({ sql, log, lanes }: WriterDependencies): Receiver & AsyncDisposable {
  const backlog = new Backlog<Delivered>(eventsPerStatementMax, statementBytesMax);
  const held = new Set<Delivered>();
  const settle = (messages: Delivered[], settleOne: (message: Delivered) => void) => {
    for (const message of messages) {
      held.delete(message);
      settleOne(message);
    }
  };
  const giveBack = (message: Delivered) => message.nak(jittered(retryDelayMs));

  const runLane = async () => {
    for (let load = await backlog.take(); load !== undefined; load = await backlog.take()) {
      const { messages, parts } = load;
      try {
        await storeLogged(sql, parts, log);
        settle(messages, (message) => message.ack());
      } catch (error) {
        log.warn({ err: error, messages: messages.length }, 'not stored; it will be delivered again');
        settle(messages, giveBack);
        await leaveReadOnlySession(sql, error);
        await sleep(jittered(retryDelayMs));
      }
    }
  };
  const running = Array.from({ length: lanes }, runLane);
  // What waits here, or for Postgres, is not lost to us: the consumer need not deliver it to somebody else.
  const renewal = setInterval(() => {
    for (const message of held) message.working();
  }, ackWaitMs / 3);

  return {
    room: () => backlog.room(),
    receive(message) {
      held.add(message);
      const parts = tryDecode(message.data);
      if (Array.isArray(parts)) return backlog.add(message, parts, message.data.length);
      log.error(
        { err: parts, bytes: message.data.length },
        'a message that is none of ours goes to quarantine',
      );
      quarantineMessage(sql, message.data, parts).then(
        () => settle([message], () => message.ack()),
        () => settle([message], giveBack),
      );
    },
    async [Symbol.asyncDispose]() {
      settle(backlog.close(), (message) => message.nak(0));
      await Promise.all(running);
      clearInterval(renewal);
    },
  };
}

async function storeLogged(sql: Sql, parts: Part[], log: Logger): Promise<void> {
  const startedMs = performance.now();
  const { inserted, quarantined } = await storeParts(sql, parts);
  const events = parts.reduce((sum, part) => sum + part.eventCount, 0);
  const ms = Math.round(performance.now() - startedMs);
  log[quarantined > 0 ? 'error' : 'debug'](
    { parts: parts.length, events, inserted, quarantined, ms },
    'stored',
  );
}

function tryDecode(bytes: Uint8Array): Part[] | Error {
  try {
    return decodeGroup(bytes).parts;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Half as much again at most, so that lanes and processes that failed together do not come back together. */
function jittered(delayMs: number): number {
  return delayMs * (1 + Math.random() / 2);
}
