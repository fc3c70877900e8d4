import type { ClientHttp2Session } from 'node:http2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BatchEncoding } from '../../services/ingest/read/batch-reader.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { expectQueued, postRaw } from '../support/http.ts';
import type { Tenant } from '../support/pipeline.ts';
import { type HeavyBatch, heaviestBatches } from '../support/protocols/heaviest-batches.ts';
import { openSession } from '../support/protocols/http2.ts';
import { call, type Protocol, protocols } from '../support/protocols/rpc-calls.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, untilDrained } from '../support/wait.ts';

/** A valid batch is stored, however many bytes it takes in the queue and whatever protocol carries it. */

const { pipeline } = usePipeline({ expectNoHarm: true });
let session: ClientHttp2Session & Disposable;
beforeAll(async () => {
  session = await openSession(pipeline);
});
afterAll(() => session?.[Symbol.dispose]());

const encodings: BatchEncoding[] = ['json', 'protobuf', 'protobufJson'];
const cases = encodings.flatMap((encoding) =>
  heaviestBatches(encoding).flatMap((batch) =>
    (encoding === 'json' ? (['http'] as const) : protocols).map((protocol) => ({ ...batch, protocol })),
  ),
);

async function send(
  tenant: Tenant,
  { encoding, protocol, bytes }: HeavyBatch & { protocol: 'http' | Protocol },
) {
  if (protocol === 'http') return expectQueued(await postRaw(pipeline, tenant, bytes), 500);
  const codec = encoding === 'protobuf' ? 'proto' : 'json';
  const contentType = `application/${protocol === 'connect' ? codec : `${protocol}+${codec}`}`;
  const headers = { authorization: `Bearer ${tenant.apiKey}`, 'content-type': contentType };
  expect(await call(session, protocol, bytes, { headers })).toMatchObject({ code: 'Ok' });
}

test.each(cases)('$name in $encoding over $protocol are stored and read back', async (batch) => {
  const tenant = await pipeline.createTenant();
  await send(tenant, batch);
  await untilDrained(pipeline);
  const rows = await pipeline.sql<{ id: string; segmentId: string; segmentIndex: number }[]>`
    SELECT id, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
    WHERE space_id = ${tenant.spaceId}`;
  const places = new Map(batch.events.map(({ id }, place) => [String(id), place]));
  rows.sort((a, b) => (places.get(a.id) ?? -1) - (places.get(b.id) ?? -1));
  expect(rows.map(({ id }) => id)).toEqual(batch.events.map(({ id }) => id));
  const texts = await readEventTexts(pipeline.database, tenant.spaceId, rows);
  for (const [index, event] of batch.events.entries()) {
    if (batch.encoding === 'json') expect(texts[index] === JSON.stringify(event)).toBe(true);
    else expect(JSON.parse(texts[index] ?? '')).toEqual(event);
  }
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(batch.events.length);
  // A batch of several messages has several segments, each with its own events.
  const stored = await pipeline.sql<{ id: string; eventCount: number }[]>`
    SELECT id, event_count AS "eventCount" FROM segments WHERE space_id = ${tenant.spaceId}`;
  const counted = Map.groupBy(rows, ({ segmentId }) => segmentId);
  expect(new Map(stored.map(({ id, eventCount }) => [id, eventCount]))).toEqual(
    new Map([...counted].map(([id, { length }]) => [id, length])),
  );
});

test('a retry of a batch that needs several messages is stored and billed once', async () => {
  const tenant = await pipeline.createTenant();
  const [batch] = heaviestBatches('protobuf');
  if (batch === undefined) throw new Error('no such batch');
  await Promise.all([1, 2, 3].map(() => send(tenant, { ...batch, protocol: 'grpc' })));
  await untilDrained(pipeline);
  await send(tenant, { ...batch, protocol: 'grpc' });
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(batch.events.length);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(batch.events.length);
});
