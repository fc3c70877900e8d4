import zlib from 'node:zlib';
import { test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { bodyOf, expectError, expectQueued, postRaw } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';

const { pipeline, tenant } = usePipeline();

const encoders = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: (bytes: Buffer) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zlib.zstdCompressSync,
};

test.each(Object.entries(encoders))('%s is decoded, and bounded after decoding', async (encoding, encode) => {
  const headers = { 'content-encoding': encoding };
  const post = (bytes: Buffer) => postRaw(pipeline, tenant, bytes, { headers });
  expectQueued(await post(encode(Buffer.from(JSON.stringify({ events: someEvents(3) })))), 3);
  expectQueued(await post(encode(bodyOf(bodyBytesMax))), 1);
  expectError(await post(encode(bodyOf(bodyBytesMax + 1))), 'batch_too_large');
  expectError(await post(encode(Buffer.alloc(64 * 1024 * 1024))), 'batch_too_large');
  const whole = encode(bodyOf(10_000));
  expectError(await post(whole.subarray(0, -5)), 'invalid_request_body', new RegExp(encoding));
  expectError(
    await post(Buffer.concat([whole, Buffer.from('more')])),
    'invalid_request_body',
    new RegExp(encoding),
  );
  expectError(await post(bodyOf(10_000)), 'invalid_request_body', new RegExp(encoding));
});

test('an unknown encoding is answered with invalid_request_body', async () => {
  const answer = await postRaw(pipeline, tenant, '{}', { headers: { 'content-encoding': 'lzma' } });
  expectError(answer, 'invalid_request_body', /Content-Encoding/);
});

test('several gzip members are one body', async () => {
  const bytes = Buffer.from(JSON.stringify({ events: someEvents(3) }));
  const members = [bytes.subarray(0, 100), bytes.subarray(100)].map((part) => zlib.gzipSync(part));
  const headers = { 'content-encoding': 'gzip' };
  expectQueued(await postRaw(pipeline, tenant, Buffer.concat(members), { headers }), 3);
  const zeros = zlib.gzipSync(Buffer.alloc(1024 * 1024));
  expectError(
    await postRaw(pipeline, tenant, Buffer.concat(Array(5).fill(zeros)), { headers }),
    'batch_too_large',
  );
});

test.each([
  ['gzip twice', 'gzip, gzip'],
  ['gzip over identity', 'identity, gzip'],
  ['an empty list', ','],
  ['a property of every object', 'constructor'],
  ['chunked', 'chunked'],
])('%s as Content-Encoding is answered with invalid_request_body', async (_, encoding) => {
  const bytes = zlib.gzipSync(zlib.gzipSync('{"events":[]}'));
  const answer = await postRaw(pipeline, tenant, bytes, { headers: { 'content-encoding': encoding } });
  expectError(answer, 'invalid_request_body', /Content-Encoding/);
});

test.each(['identity', 'GZIP', ' gzip '])('the Content-Encoding %j is accepted', async (encoding) => {
  const bytes = encoding === 'identity' ? '{"events":[]}' : zlib.gzipSync('{"events":[]}');
  expectQueued(await postRaw(pipeline, tenant, bytes, { headers: { 'content-encoding': encoding } }), 0);
});

test.each(Object.entries(encoders))(
  'an empty body, compressed with %s, is answered with invalid_request_body',
  async (encoding, encode) => {
    const headers = { 'content-encoding': encoding };
    expectError(
      await postRaw(pipeline, tenant, encode(Buffer.alloc(0)), { headers }),
      'invalid_request_body',
    );
    expectError(await postRaw(pipeline, tenant, '', { headers }), 'invalid_request_body');
  },
);
