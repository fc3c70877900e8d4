import { describe, expect, test } from 'vitest';
import {
  flags,
  frame,
  headerBlock,
  headersFrame,
  opening,
  postHeaders,
  RawConnection,
  uint32,
} from '../support/protocols/http2-frames.ts';
import { emptyBatch, expectServing, expectServingOn } from '../support/serving.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/**
 * Requests and frames that RFC 9113 forbids end their stream or connection, and do not affect other clients.
 */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });

/** RFC 9113 §7. */
const codes = { protocolError: 1, refusedStream: 7, cancel: 8 };

const open = (...first: Buffer[]) => RawConnection.open(pipeline, ...first);
const headers = (more: [string, string][] = []) => postHeaders(tenant.apiKey, more);
/** A header block on stream 1, in as many frames as it needs. */
function headerFrames(block: Buffer): Buffer[] {
  const frameBytesMax = 16_384;
  const frames: Buffer[] = [];
  for (let at = 0; at < block.length; at += frameBytesMax) {
    const isLast = at + frameBytesMax >= block.length;
    const payload = block.subarray(at, at + frameBytesMax);
    frames.push(
      frame(at === 0 ? 'headers' : 'continuation', {
        flags: isLast ? flags.endHeaders : 0,
        streamId: 1,
        payload,
      }),
    );
  }
  return frames;
}

describe('a malformed request is reset, and the connection remains usable', () => {
  const [method, scheme, authority, path, authorization] = postHeaders('key') as [
    [string, string],
    [string, string],
    [string, string],
    [string, string],
    [string, string],
  ];
  test.each<[string, (readonly [string, string])[]]>([
    ['connection', [method, scheme, authority, path, ['connection', 'keep-alive']]],
    ['transfer-encoding', [method, scheme, authority, path, ['transfer-encoding', 'chunked']]],
    ['upgrade', [method, scheme, authority, path, ['upgrade', 'h2c']]],
    ['keep-alive', [method, scheme, authority, path, ['keep-alive', '5']]],
    ['te other than trailers', [method, scheme, authority, path, ['te', 'gzip']]],
    ['a name in capitals', [method, scheme, authority, path, ['Authorization', 'x']]],
    ['no path', [method, scheme, authority]],
    ['an empty path', [method, scheme, authority, [':path', '']]],
    ['no method', [scheme, authority, path]],
    ['no scheme', [method, authority, path]],
    ['two methods', [method, method, scheme, authority, path]],
    ['two paths', [method, scheme, authority, path, path]],
    ['an unknown pseudo-header', [method, scheme, authority, path, [':x', 'y']]],
    ['a pseudo-header of responses', [method, scheme, authority, path, [':status', '200']]],
    ['a pseudo-header after the others', [method, scheme, authority, authorization, path]],
    ['two lengths', [method, scheme, authority, path, ['content-length', '13'], ['content-length', '14']]],
    ['a length with a sign', [method, scheme, authority, path, ['content-length', '+13']]],
  ])('%s', async (_, block) => {
    using connection = await open(opening, headersFrame(1, block));
    expect((await connection.untilFrame('rstStream', 1)).payload.readUInt32BE()).toBe(codes.protocolError);
    await expectServingOn(connection, tenant, 3);
  });

  test('a header with characters that no value may contain is dropped', async () => {
    for (const value of [`Bearer ${tenant.apiKey}\0`, `Bearer ${tenant.apiKey}\r\na: b`]) {
      using connection = await open(opening);
      connection.send(
        headersFrame(1, [method, scheme, authority, path, ['authorization', value]]),
        emptyBatch(1),
      );
      expect((await connection.untilFrame('data', 1)).payload.toString()).toContain('unauthorized');
    }
  });

  test('a header list above the announced limit is answered in the error shape', async () => {
    for (const more of [1, 60]) {
      using connection = await open(opening);
      const names = Array.from({ length: more }, (_, i) => `x-${i}`);
      const block = headerBlock(headers(names.map((name) => [name, 'v'.repeat(16_500 / more ** 0.5)])));
      connection.send(...headerFrames(block), emptyBatch(1));
      expect((await connection.untilFrame('data', 1)).payload.toString()).toContain('invalid_request_body');
      await expectServingOn(connection, tenant, 3);
    }
  });

  test('a header block that refers to one large header 10,000 times', async () => {
    using connection = await open(opening);
    // A literal of 3,000 bytes that is indexed (RFC 7541 §6.2.1), then referred to 10,000 times.
    const literal = Buffer.concat([Buffer.from([0x40, 1, 0x78, 127, 0xb9, 0x16]), Buffer.alloc(3_000, 'v')]);
    const payload = Buffer.concat([headerBlock(headers()), literal, Buffer.alloc(10_000, 0x80 | 62)]);
    connection.send(frame('headers', { flags: flags.endHeaders | flags.endStream, streamId: 1, payload }));
    await Promise.race([connection.untilFrame('rstStream', 1), connection.closed]);
    expect(connection.frames.filter(({ type }) => type === 'headers')).toEqual([]);
    await expectServing(pipeline, tenant);
  });
});

describe('forbidden frames end the connection', () => {
  const request = () => headersFrame(1, postHeaders('key'));
  test.each<[string, () => Buffer[]]>([
    ['DATA on stream 0', () => [frame('data', { payload: Buffer.from('x') })]],
    ['DATA on a stream that is not open', () => [frame('data', { streamId: 5, payload: Buffer.from('x') })]],
    ['HEADERS on stream 0', () => [headersFrame(0, postHeaders('key'))]],
    ['HEADERS on an even stream', () => [headersFrame(2, postHeaders('key'))]],
    ['a frame larger than announced', () => [frame('data', { streamId: 1, payload: Buffer.alloc(20_000) })]],
    ['PUSH_PROMISE', () => [frame('pushPromise', { streamId: 1, payload: Buffer.alloc(4) })]],
    ['RST_STREAM of an idle stream', () => [frame('rstStream', { streamId: 7, payload: uint32(8) })]],
    [
      'RST_STREAM of 3 bytes',
      () => [request(), frame('rstStream', { streamId: 1, payload: Buffer.alloc(3) })],
    ],
    ['SETTINGS of 5 bytes', () => [frame('settings', { payload: Buffer.alloc(5) })]],
    ['SETTINGS on a stream', () => [frame('settings', { streamId: 1 })]],
    [
      'SETTINGS that acknowledge with a payload',
      () => [frame('settings', { flags: 1, payload: Buffer.alloc(6) })],
    ],
    [
      'SETTINGS of a window too large',
      () => [frame('settings', { payload: Buffer.from([0, 4, 255, 255, 255, 255]) })],
    ],
    [
      'SETTINGS of a frame too small',
      () => [frame('settings', { payload: Buffer.from([0, 5, 0, 0, 0, 1]) })],
    ],
    ['PING of 7 bytes', () => [frame('ping', { payload: Buffer.alloc(7) })]],
    ['PING on a stream', () => [frame('ping', { streamId: 1, payload: Buffer.alloc(8) })]],
    ['CONTINUATION without HEADERS', () => [frame('continuation', { streamId: 1 })]],
    [
      'padding longer than the frame',
      () => [request(), frame('data', { flags: 8, streamId: 1, payload: Buffer.from([9, 1]) })],
    ],
    [
      'headers that are not HPACK',
      () => [frame('headers', { flags: 5, streamId: 1, payload: Buffer.alloc(50, 255) })],
    ],
    [
      'an index beyond the table',
      () => [frame('headers', { flags: 5, streamId: 1, payload: Buffer.from([0xfe]) })],
    ],
    [
      'a stream between the fragments of headers',
      () => [
        frame('headers', { streamId: 1, payload: headerBlock([[':method', 'GET']]) }),
        headersFrame(3, postHeaders('key')),
      ],
    ],
    ['WINDOW_UPDATE by 0', () => [frame('windowUpdate', { payload: uint32(0) })]],
    [
      'WINDOW_UPDATE past 2³¹ − 1',
      () => Array(2).fill(frame('windowUpdate', { payload: uint32(0x7fffffff) })),
    ],
    [
      'WINDOW_UPDATE past 2³¹ − 1 on a stream',
      () => [
        request(),
        ...Array(2).fill(frame('windowUpdate', { streamId: 1, payload: uint32(0x7fffffff) })),
      ],
    ],
    ['HTTP/1.1 after the preface', () => [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')]],
  ])('%s', async (_, bytes) => {
    using connection = await open(opening, ...bytes());
    await connection.closed;
    expect(connection.frames.filter(({ type }) => type === 'headers')).toEqual([]);
    await expectServing(pipeline, tenant);
  });

  test('an invalid preface', async () => {
    using connection = await open(Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'), frame('settings'));
    await connection.closed;
    await expectServing(pipeline, tenant);
  });

  test('frames of an unknown type, and PRIORITY, are ignored', async () => {
    using connection = await open(opening);
    connection.send(frame(0xfa, { streamId: 1, payload: Buffer.alloc(100) }));
    connection.send(frame('priority', { streamId: 1, payload: Buffer.from([0, 0, 0, 3, 1]) }));
    await expectServingOn(connection, tenant, 5);
  });
});
