import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connectQueue } from '../../platform/queue/connect.ts';
import type { Sql } from '../../store/db/connect.ts';

/** Baselines for the measured figures: the minimal cost of the same work with the same components. */

/** The time of `JSON.parse` of a request body, in milliseconds. */
export function measureJsonParse(body: Buffer): number {
  const text = body.toString();
  const durations = Array.from({ length: 15 }, () => {
    const startedMs = performance.now();
    JSON.parse(text);
    return performance.now() - startedMs;
  });
  return durations.sort((a, b) => a - b)[7] ?? Number.NaN;
}

/** PubAcks per second for messages of one event, each published after the previous PubAck. */
export async function measurePublish(natsUrl: string, payload: Uint8Array, seconds: number): Promise<number> {
  await using connection = await connectQueue(natsUrl, 'weir-bench');
  const manager = await jetstreamManager(connection);
  const stream = { name: 'WEIR_BENCH', subjects: ['weir.bench'], max_bytes: 256 * 1024 ** 2 };
  await manager.streams.add(stream);
  try {
    const client = jetstream(connection);
    const startedMs = performance.now();
    let count = 0;
    for (; performance.now() < startedMs + seconds * 1_000; count++)
      await client.publish('weir.bench', payload);
    return count / ((performance.now() - startedMs) / 1_000);
  } finally {
    await manager.streams.delete(stream.name);
  }
}

/** Events per second of `COPY` as `jsonb` rows into the same Postgres, with a commit every 500 rows. */
export async function measureCopy(sql: Sql, events: readonly Buffer[]): Promise<number> {
  // In COPY's text format a backslash is an escape character. JSON contains no raw tabs or line breaks.
  const rows = events.map((event) => `${event.toString().replaceAll('\\', '\\\\')}\n`);
  const table = sql('bench_copy');
  await sql`CREATE TABLE ${table} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event jsonb NOT NULL)`;
  try {
    const startedMs = performance.now();
    for (let from = 0; from < rows.length; from += 500) {
      const chunk = rows.slice(from, from + 500).join('');
      await pipeline(Readable.from([chunk]), await sql`COPY ${table} (event) FROM STDIN`.writable());
    }
    return rows.length / ((performance.now() - startedMs) / 1_000);
  } finally {
    await sql`DROP TABLE ${table}`;
  }
}
