import type { ClientHttp2Session } from 'node:http2';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ErrorId, errorTable } from '../../event/errors.ts';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { startPipeline, type Tenant } from '../support/pipeline.ts';
import { field, invalid, malformed, nest, varint } from '../support/protocols/bad-messages.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import { toRequest } from '../support/protocols/message.ts';
import {
  type CallOptions,
  type CallOutcome,
  call,
  envelope,
  ingestPath,
  type Protocol,
  protocols,
} from '../support/protocols/rpc-calls.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/**
 * Abuse that is specific to RPC protocols. A client error is never answered with INTERNAL, UNKNOWN or a 5xx.
 */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });
let session: ClientHttp2Session & Disposable;
beforeAll(async () => {
  session = await openSession(pipeline);
});
afterAll(() => session?.[Symbol.dispose]());

function send(protocol: Protocol, message: Uint8Array, options: CallOptions = {}): Promise<CallOutcome> {
  const headers = { authorization: `Bearer ${tenant.apiKey}`, ...options.headers };
  return call(session, protocol, message, { ...options, headers });
}

function expectRefused(outcome: CallOutcome, id: ErrorId): void {
  const { code, status } = outcome;
  expect({ code, id: outcome.id, status }).toEqual({
    code: errorTable[id].rpcCode,
    id,
    status: errorTable[id].status,
  });
}

const encoders = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  // With the default quality the bomb takes three seconds.
  br: (bytes: Uint8Array) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zlib.zstdCompressSync,
};

/** A decompression bomb of each encoding. */
const bombs = new Map(
  Object.entries(encoders).map(([encoding, encode]) => [encoding, encode(Buffer.alloc(32 * 1024 * 1024))]),
);

/** A request of this size, with one valid event. */
function requestOf(bytes: number): Uint8Array {
  const request = (pad: string) => toRequest([toolEvent({ properties: { tool: { output: pad } } })]);
  const probe = 100_000;
  const overhead = request('x'.repeat(bytes - probe)).length - (bytes - probe);
  const whole = request('x'.repeat(bytes - overhead));
  expect(whole).toHaveLength(bytes);
  return whole;
}

describe.each(protocols)('%s', (protocol) => {
  const encodingHeader = protocol === 'connect' ? 'content-encoding' : 'grpc-encoding';
  const compressed = (bytes: Uint8Array) => (protocol === 'connect' ? bytes : envelope(bytes, { flags: 1 }));
  const sendCompressed = (encoding: string, bytes: Uint8Array) =>
    send(protocol, compressed(bytes), { isRaw: true, headers: { [encodingHeader]: encoding } });

  test('exactly 4 MiB are accepted, and one byte more is rejected', async () => {
    expect((await send(protocol, requestOf(bodyBytesMax))).code).toBe('Ok');
    expectRefused(await send(protocol, requestOf(bodyBytesMax + 1)), 'batch_too_large');
    expectRefused(await send(protocol, Buffer.alloc(10 * bodyBytesMax)), 'batch_too_large');
  });

  test('501 events are too_many_events, even when none is valid', async () => {
    expectRefused(await send(protocol, toRequest(someEvents(501))), 'too_many_events');
    expectRefused(await send(protocol, Buffer.concat(Array(501).fill(field(1, 'x')))), 'too_many_events');
    expect((await send(protocol, toRequest(someEvents(500)))).code).toBe('Ok');
  });

  test.each(Object.entries(encoders))('%s is decompressed, and bounded', async (encoding, encode) => {
    const whole = encode(toRequest([llmEvent()]));
    expect((await sendCompressed(encoding, whole)).code).toBe('Ok');
    const bomb = bombs.get(encoding) ?? Buffer.alloc(0);
    expectRefused(await sendCompressed(encoding, bomb), 'batch_too_large');
    expectRefused(await sendCompressed(encoding, whole.subarray(0, -5)), 'invalid_request_body');
    expectRefused(
      await sendCompressed(encoding, Buffer.concat([whole, Buffer.from('more')])),
      'invalid_request_body',
    );
    expectRefused(await sendCompressed(encoding, Buffer.from('not compressed')), 'invalid_request_body');
  });

  test('an invalid message is not reported as an unknown compression, whatever the case of the compression name', async () => {
    const headers = { [encodingHeader]: 'GZIP' };
    const bytes = compressed(zlib.gzipSync(Buffer.from([10, 5])));
    expectRefused(await send(protocol, bytes, { isRaw: true, headers }), 'invalid_request_body');
  });

  test('an unknown compression is rejected, and the response names the known ones', async () => {
    const { code, id, http } = await sendCompressed('lzma', Buffer.from('x'));
    // In Connect, UNIMPLEMENTED is a 501.
    expect([code, id]).toEqual([
      protocol === 'connect' ? 'InvalidArgument' : 'Unimplemented',
      'invalid_request_body',
    ]);
    const accepted = protocol === 'connect' ? 'accept-encoding' : 'grpc-accept-encoding';
    expect(http.headers[accepted]).toBe('gzip,deflate,br,zstd');
  });

  test.each(Object.keys(malformed))('%s is invalid', async (name) => {
    expectRefused(await send(protocol, malformed[name] ?? Buffer.alloc(0)), 'invalid_request_body');
  });

  test.each(Object.keys(invalid))('%s is an invalid batch', async (name) => {
    expectRefused(await send(protocol, invalid[name] ?? Buffer.alloc(0)), 'invalid_event_batch');
  });

  test('unknown fields, groups included, are skipped', async () => {
    const unknown = [varint(1, 9), field(700, 'x'), Buffer.from([0x0b, 0x10, 0x01, 0x0c])];
    const message = Buffer.concat([...unknown, toRequest([llmEvent()]), ...unknown]);
    const outcome = await send(protocol, message);
    expect([outcome.code, outcome.http.text]).toEqual(['Ok', expect.stringContaining('Queued 1 event.')]);
  });

  test('payloads nest 512 levels deep, counted from the root as in JSON', async () => {
    // The levels are body, events, event, properties, tool and payload.
    const nested = (levels: number) =>
      toRequest([toolEvent({ properties: { tool: { input: nest(levels) } } })]);
    expect((await send(protocol, nested(512 - 5))).code).toBe('Ok');
    expectRefused(await send(protocol, nested(512 - 4)), 'invalid_event_batch');
  });

  test('invalid keys are UNAUTHENTICATED', async () => {
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Basic x',
      'Bearer weir_x',
      `Bearer ${createApiKey()}`,
    ]) {
      for (const message of [toRequest([]), Buffer.alloc(bodyBytesMax + 1)]) {
        expectRefused(await send(protocol, message, { headers: { authorization } }), 'unauthorized');
      }
    }
  });

  test('a space that cannot accept events gets the reason', async () => {
    const unpaid = await pipeline.createTenant({ billingState: 'inactive' });
    const used = await pipeline.createTenant({ monthlyEventLimit: 0 });
    const as = ({ apiKey }: Tenant) =>
      send(protocol, toRequest([llmEvent()]), { headers: { authorization: `Bearer ${apiKey}` } });
    expectRefused(await as(unpaid), 'billing_not_active');
    expectRefused(await as(used), 'usage_limit_exceeded');
  });

  test('the JSON encoding of protobuf follows the same rules', async () => {
    const asJson = contentType(protocol)
      .replace('application/proto', 'application/json')
      .replace(/grpc.*/, '$&+json');
    const sendJson = (text: string) =>
      send(protocol, Buffer.from(text), { headers: { 'content-type': asJson } });
    for (const text of ['', 'x', '{"events":[', '\uFEFF\uFEFF{}', '{}{}']) {
      expectRefused(await sendJson(text), 'invalid_request_body');
    }
    const wrong = [
      '[]',
      'null',
      '1',
      '{"events":{}}',
      '{"events":[1]}',
      '{"events":[{"startTimeMs":"x"}]}',
      '{"events":[{"startTimeMs":"NaN"}]}',
      '{"events":[{"status":{"state":"NOPE"}}]}',
      '{"events":[{"id":"\\ud800"}]}',
      '{"events":[{"llm":{},"tool":{}}]}',
      '{"events":[{"tool":{"input":1e999}}]}',
    ];
    for (const text of wrong) expectRefused(await sendJson(text), 'invalid_event_batch');
    for (const levels of [600, 100_000]) {
      const nested = '['.repeat(levels) + ']'.repeat(levels);
      expectRefused(await sendJson(`{"events":[{"tool":{"input":${nested}}}]}`), 'invalid_event_batch');
    }
    expect((await sendJson('{"events":[],"unknown":{"a":[1]}}')).code).toBe('Ok');
  });

  test('malformed deadlines cause no server error', async () => {
    for (const value of ['x', '-1S', '99999999999999H', '']) {
      const headers = { 'grpc-timeout': value, 'connect-timeout-ms': value };
      const { code } = await send(protocol, toRequest([]), { headers });
      expect(['Ok', 'InvalidArgument']).toContain(code);
    }
  });

  test('other methods are 405, in the error shape', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers, text } = await exchange(session, {
        ':method': method,
        ':path': ingestPath,
        'content-type': contentType(protocol),
      });
      expect([status, headers.allow, JSON.parse(text).error.id]).toEqual([405, 'POST', 'method_not_allowed']);
    }
  });

  test('an unknown path is UNIMPLEMENTED, or 404', async () => {
    for (const path of ['/weir.ingest.v1.IngestService/Nope', '/no.such.Service/Method']) {
      if (protocol === 'connect') {
        const headers = { ':method': 'POST', ':path': path, 'content-type': contentType(protocol) };
        const { status, text } = await exchange(session, headers, ['x']);
        expect([status, JSON.parse(text).error.id]).toEqual([404, 'not_found']);
      } else {
        expectRefused(await send(protocol, toRequest([]), { path }), 'not_found');
      }
    }
  });
});

describe.each(['grpc', 'grpc-web'] as const)('the envelope of %s', (protocol) => {
  const message = toRequest([]);
  const event = toRequest([llmEvent()]);
  test.each<[string, Buffer, ErrorId]>([
    ['no envelope', Buffer.alloc(0), 'invalid_request_body'],
    ['half of an envelope', Buffer.from([0, 0, 0]), 'invalid_request_body'],
    [
      'a message shorter than declared',
      envelope(event, { length: event.length + 1 }),
      'invalid_request_body',
    ],
    ['a message longer than declared', envelope(event, { length: event.length - 1 }), 'invalid_request_body'],
    ['two messages', Buffer.concat([envelope(message), envelope(message)]), 'invalid_request_body'],
    ['an unknown flag', envelope(event, { flags: 2 }), 'invalid_request_body'],
    ['the flag of trailers', envelope(event, { flags: 0x80 }), 'invalid_request_body'],
    [
      'a compressed message without grpc-encoding',
      envelope(zlib.gzipSync(event), { flags: 1 }),
      'invalid_request_body',
    ],
    ['a declared length above 4 MiB', envelope(event, { length: bodyBytesMax + 1 }), 'batch_too_large'],
    ['a declared length of 4 GiB', envelope(event, { length: 0xffffffff }), 'batch_too_large'],
  ])('%s', async (_, bytes, id) => expectRefused(await send(protocol, bytes, { isRaw: true }), id));
});

test.each(['grpc', 'grpc-web'] as const)(
  'an unknown flag of %s is rejected together with a known one',
  async (protocol) => {
    const bytes = envelope(zlib.gzipSync(toRequest([])), { flags: 3 });
    const headers = { 'grpc-encoding': 'gzip' };
    expectRefused(await send(protocol, bytes, { isRaw: true, headers }), 'invalid_request_body');
  },
);

test('a Content-Type that no RPC protocol uses is a 415 in the error shape', async () => {
  for (const type of [
    'text/plain',
    'application/grpc+thrift',
    'application/grpc-web-text',
    'application/connect+proto',
    'application/x-protobuf',
    '',
    undefined,
  ]) {
    const headers = {
      ':method': 'POST',
      ':path': ingestPath,
      ...(type !== undefined && { 'content-type': type }),
    };
    const { status, text } = await exchange(session, headers, ['x']);
    expect([type, status, JSON.parse(text).error.id]).toEqual([type, 415, 'unsupported_media_type']);
  }
});

test('while the queue is unreachable, calls get UNAVAILABLE with Retry-After', async () => {
  await using broken = await startPipeline();
  const { apiKey } = await broken.createTenant();
  await broken.nats.stop();
  using client = await openSession(broken);
  const headers = { authorization: `Bearer ${apiKey}` };
  const calls = protocols.map((protocol) => call(client, protocol, toRequest([llmEvent()]), { headers }));
  for (const outcome of await Promise.all(calls)) {
    expectRefused(outcome, 'ingest_unavailable');
    expect(outcome.http.headers['retry-after']).toMatch(/^[1-9]/);
  }
});

function contentType(protocol: Protocol): string {
  return protocol === 'connect' ? 'application/proto' : `application/${protocol}`;
}
