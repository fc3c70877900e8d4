import process from 'node:process';
import { type JsMsg, jetstream } from '@nats-io/jetstream';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import type { Event } from './event.ts';
import { openQueue } from './queue.ts';
import { events } from './table.ts';

/**
 * Stores the events of the queue: what has arrived while a statement ran goes into the next one. Acknowledges
 * after COMMIT.
 */
const { DATABASE_URL = '', NATS_URL = '' } = process.env;
const spaceId = 'space-1';
const rowsMax = 500;

const { connection, stream, consumer: name } = await openQueue(NATS_URL);
const sql = postgres(DATABASE_URL);
const db = drizzle(sql);
const consumer = await jetstream(connection).consumers.get(stream, name);
const messages = await consumer.consume({ max_messages: 2_000 });

const waiting: JsMsg[] = [];
let storing: Promise<void> | undefined;

async function storeWaiting(): Promise<void> {
  while (waiting.length > 0) await storeBatch(waiting.splice(0, rowsMax));
  storing = undefined;
}

async function storeBatch(batch: JsMsg[]): Promise<void> {
  try {
    const rows = batch.map((message) => {
      const event = message.json<Event>();
      return { spaceId, id: event.id, type: event.type, startTime: new Date(event.startTimeMs), event };
    });
    await db.insert(events).values(rows).onConflictDoNothing();
    for (const message of batch) message.ack();
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    for (const message of batch) message.nak(1_000);
  }
}

process.once('SIGTERM', () => messages.stop());
for await (const message of messages) {
  waiting.push(message);
  storing ??= storeWaiting();
}
await storing;
await connection.drain();
await sql.end();
