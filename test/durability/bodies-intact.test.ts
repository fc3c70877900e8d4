import { randomBytes, randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { unreadBodyTimeoutMs } from '../../platform/http/limits.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';

import { untilDrained } from '../support/wait.ts';

/** Body buffers are reused and detached while other bodies are still being read (ADR 0008). */

const encoders: Record<string, (body: Buffer) => Buffer> = {
  identity: (body) => body,
  gzip: gzipSync,
  deflate: deflateSync,
  br: (body) => brotliCompressSync(body, { params: { 0: 1 } }),
  zstd: zstdCompressSync,
};
const zeros = Buffer.alloc(2 * bodyBytesMax);
const bombs = Object.fromEntries(Object.entries(encoders).map(([name, encode]) => [name, encode(zeros)]));
const requests = 600;
const connections = 24;

const { pipeline } = useProcessPipeline({ expectNoHarm: true });

// For 600 requests, a sixth of them decompression bombs, while other tests run.
const timeout = 180_000;

test('events of concurrent bodies of all sizes and encodings, oversized ones among them, are stored as sent', {
  timeout,
}, async () => {
  const { apiKey, spaceId } = await pipeline.createTenant();
  const pool = new Pool(pipeline.url, { connections, pipelining: 1 });
  const names = Object.keys(encoders);
  const send = async (sent: Buffer, encoding: string) => {
    const pieces = Array.from({ length: Math.ceil(sent.length / 50_000) }, (_, i) =>
      sent.subarray(i * 50_000, (i + 1) * 50_000),
    );
    const { statusCode, body: answer } = await pool.request({
      method: 'POST',
      path: '/v1/ingest-events',
      headers: { authorization: `Bearer ${apiKey}`, 'content-encoding': encoding },
      body: randomInt(2) === 0 ? sent : Readable.from(pieces),
    });
    await answer.dump();
    return statusCode;
  };
  const texts = new Map<string, string>();
  const sendAnother = async () => {
    const encoding = names[randomInt(names.length)] ?? '';
    if (randomInt(6) === 0) {
      const startedMs = performance.now();
      const outcome = await send(bombs[encoding] ?? zeros, encoding).catch((error: Error) => error);
      // The connection may break instead when sending takes longer than ingest reads a rejected body.
      const isLate = performance.now() - startedMs > unreadBodyTimeoutMs;
      expect(isLate && outcome instanceof Error ? 413 : outcome).toBe(413);
      return;
    }
    const events = Array.from({ length: randomInt(1, 12) }, () =>
      toolEvent({
        properties: {
          tool: { name: 'echo', input: randomBytes(randomInt(2 ** randomInt(6, 16))).toString('hex') },
        },
      }),
    );
    for (const event of events) texts.set(String(event.id), JSON.stringify(event));
    const body = Buffer.from(JSON.stringify({ events }));
    expect(await send(encoders[encoding]?.(body) ?? body, encoding)).toBe(202);
  };
  let left = requests;
  const sendInTurn = async () => {
    while (left-- > 0) await sendAnother();
  };
  await Promise.all(Array.from({ length: connections }, sendInTurn));
  await pool.close();
  await untilDrained(pipeline);
  const rows = await pipeline.sql<{ id: string; segmentId: string; segmentIndex: number }[]>`
    SELECT id, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events WHERE space_id = ${spaceId}`;
  const stored = await readEventTexts(pipeline.database, spaceId, rows);
  expect(new Map(rows.map(({ id }, index) => [id, stored[index]]))).toEqual(texts);
});
