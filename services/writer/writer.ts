import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../lib/db/connect.ts';
import { eventsPerStatementMax, statementBytesMax } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { decodeGroup, type Part } from '../../lib/queue/group.ts';
import { quarantineMessage } from '../../lib/write/quarantine.ts';
import { storeParts } from '../../lib/write/store.ts';
import { Backlog } from './backlog.ts';
import type { Delivered } from './delivery.ts';

/** After a transient failure a lane rests this long, and its messages come again about as much later. */
const retryDelayMs = 500;

export interface WriterDependencies {
  sql: Sql;
  delivery: AsyncIterable<Delivered>;
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
 * Disposing it finishes the statements under way, and leaves what is waiting to be delivered again.
 */
export function startWriter({ sql, delivery, log, lanes }: WriterDependencies): AsyncDisposable {
  const backlog = new Backlog<Delivered>(eventsPerStatementMax, statementBytesMax);
  void feed(backlog, delivery, sql);
  const running = Array.from({ length: lanes }, () => runLane(backlog, sql, log));
  return {
    async [Symbol.asyncDispose]() {
      for (const message of backlog.close()) message.nak();
      await Promise.all(running);
    },
  };
}

async function feed(
  backlog: Backlog<Delivered>,
  delivery: AsyncIterable<Delivered>,
  sql: Sql,
): Promise<void> {
  for await (const message of delivery) {
    let parts: Part[];
    try {
      parts = decodeGroup(message.data).parts;
    } catch (error) {
      await setAside(message, sql, error);
      continue;
    }
    const isTaken = await backlog.add(message, parts, message.data.length);
    if (isTaken) continue;
    message.nak();
    return;
  }
}

async function setAside(message: Delivered, sql: Sql, error: unknown): Promise<void> {
  await quarantineMessage(sql, message.data, error).then(
    () => message.ack(),
    () => message.nak(jittered(retryDelayMs)),
  );
}

async function runLane(backlog: Backlog<Delivered>, sql: Sql, log: Logger): Promise<void> {
  for (;;) {
    const load = await backlog.take();
    if (load === undefined) return;
    const { messages, parts } = load;
    const startedMs = performance.now();
    try {
      const { inserted, quarantined } = await storeParts(sql, parts);
      for (const message of messages) message.ack();
      const events = parts.reduce((sum, part) => sum + part.eventCount, 0);
      const entry = { messages: messages.length, parts: parts.length, events, inserted, quarantined };
      log[quarantined > 0 ? 'error' : 'debug'](
        { ...entry, ms: Math.round(performance.now() - startedMs) },
        'stored',
      );
    } catch (error) {
      log.warn({ err: error, messages: messages.length }, 'not stored; it will be delivered again');
      for (const message of messages) message.nak(jittered(retryDelayMs));
      await sleep(jittered(retryDelayMs));
    }
  }
}

/** Half as much again at most, so that lanes and processes that failed together do not come back together. */
function jittered(delayMs: number): number {
  return delayMs * (1 + Math.random() / 2);
}
