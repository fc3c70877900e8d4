import { randomUUID } from 'node:crypto';
import type { ClientHttp2Session } from 'node:http2';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { openSession } from '../support/protocols/http2.ts';
import { toRequest } from '../support/protocols/message.ts';
import { type CallOptions, call, type Protocol, protocols } from '../support/protocols/rpc-calls.ts';
import { usePipeline } from '../support/use-pipeline.ts';

import { countRows, until } from '../support/wait.ts';

/** For any message: a client error is never INTERNAL, UNKNOWN or a 5xx, and accepted events are stored. */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });
let session: ClientHttp2Session & Disposable;
beforeAll(async () => {
  session = await openSession(pipeline);
});
afterAll(() => session?.[Symbol.dispose]());

function send(protocol: Protocol, message: Uint8Array, options: CallOptions = {}) {
  const headers = { authorization: `Bearer ${tenant.apiKey}`, ...options.headers };
  return call(session, protocol, message, { ...options, headers });
}

describe.each(protocols)('%s', (protocol) => {
  test('random bytes are rejected as a client error', async () => {
    const { apiKey, spaceId } = await pipeline.createTenant();
    const headers = { authorization: `Bearer ${apiKey}` };
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, isRaw) => {
        const { code } = await send(protocol, bytes, { headers, isRaw });
        expect(['Ok', 'InvalidArgument', 'ResourceExhausted']).toContain(code);
      }),
      { numRuns: 300 },
    );
    expect(await countRows(pipeline, spaceId)).toBe(0);
  });

  test('mutated messages are accepted or rejected as a client error', async () => {
    const whole = Buffer.from(
      toRequest([llmEvent({ properties: { llm: { extra: { a: [1, null, { b: 'c' }] } } } }), toolEvent()]),
    );
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(3)), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (edits) => {
        const { code } = await send(protocol, edits.reduce(edit, whole));
        expect(['Ok', 'InvalidArgument', 'ResourceExhausted']).toContain(code);
      }),
      { numRuns: 300 },
    );
  });
});

test('any JSON in a payload is stored unchanged', async () => {
  const { apiKey, spaceId } = await pipeline.createTenant();
  const sent = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 6 }),
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { maxKeys: 5 }),
      async (text, extra) => {
        const id = randomUUID();
        const input = withoutMinusZero(JSON.parse(text));
        const output = withoutMinusZero(JSON.parse(JSON.stringify(extra)));
        sent.set(id, JSON.stringify({ input, output }));
        const { code } = await send(
          'grpc',
          toRequest([toolEvent({ id, properties: { tool: { input, output } } })]),
          {
            headers: { authorization: `Bearer ${apiKey}` },
          },
        );
        expect(code).toBe('Ok');
      },
    ),
    { numRuns: 200 },
  );
  await until(async () => (await countRows(pipeline, spaceId)) === sent.size);
  const rows =
    await pipeline.sql`SELECT id, segment_id, segment_index FROM events WHERE space_id = ${spaceId}`;
  const locators = rows.map((row) => ({ segmentId: row.segment_id, segmentIndex: row.segment_index }));
  const texts = await readEventTexts(pipeline.database, spaceId, locators);
  for (const [index, row] of rows.entries()) {
    const { input, output } = JSON.parse(texts[index] ?? '').properties.tool;
    expect({ input, output }).toEqual(JSON.parse(sent.get(row.id) ?? ''));
  }
});

/** JSON has a negative zero, but JSON.stringify writes it as 0. */
function withoutMinusZero(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json));
}

/** Changes, removes or inserts one byte, or truncates. */
function edit(bytes: Buffer, [at, value, kind]: readonly [number, number, number]): Buffer {
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
  if (kind === 0) return Buffer.concat([before, after]);
  if (kind === 1) return Buffer.concat([before, Buffer.from([value]), bytes.subarray(at)]);
  if (kind === 2) return before;
  return Buffer.concat([before, Buffer.from([value]), after]);
}
