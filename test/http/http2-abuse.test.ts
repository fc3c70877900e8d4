import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { http2ResetsBurst, http2StreamsMax } from '../../platform/http/limits.ts';
import { spaceShareOfFree } from '../../services/ingest/body/byte-budget.ts';
import { limitsOfProcess } from '../../services/ingest/limits.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { postEvents } from '../support/http.ts';
import { startProcessPipeline } from '../support/pipeline.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import {
  clientPreface,
  frame,
  headerBlock,
  headersFrame,
  opening,
  postHeaders,
  RawConnection,
  uint32,
} from '../support/protocols/http2-frames.ts';
import { emptyBatch, expectServing, expectServingOn } from '../support/serving.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/** Abuse that is specific to HTTP/2: it must not end ingest, nor affect other clients. */

const { pipeline, tenant } = useProcessPipeline({ expectNoHarm: true });

/** RFC 9113 §7. */
const codes = { refusedStream: 7, cancel: 8 };

const open = (...first: Buffer[]) => RawConnection.open(pipeline, ...first);
const headers = (more: [string, string][] = []) => postHeaders(tenant.apiKey, more);

/** Resident memory of ingest, in megabytes. */
function residentMegabytes(): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pipeline.ingest.pid)]);
  return Number(kilobytes) / 1024;
}

describe.concurrent('slow and silent clients are disconnected without a status', () => {
  const silent: [string, Buffer[]][] = [
    ['a silent socket', []],
    ['half of a preface', [clientPreface.subarray(0, 10)]],
    ['the first byte of a preface', [clientPreface.subarray(0, 1)]],
    ['a preface alone', [clientPreface]],
    ['a session without a request', [opening]],
    [
      'headers that do not end',
      [opening, frame('headers', { streamId: 1, payload: headerBlock([[':method', 'POST']]) })],
    ],
  ];
  test.each(silent)('%s', async (_, bytes) => {
    using connection = await open(...bytes);
    await connection.closed;
    expect(connection.frames.filter(({ type }) => type === 'headers' || type === 'data')).toEqual([]);
    expect(connection.received.toString('latin1')).not.toContain('HTTP/1.1');
  });

  test('a body that stops half-way', async () => {
    using connection = await open(opening, headersFrame(1, headers()));
    connection.send(frame('data', { streamId: 1, payload: Buffer.from('{"events":[') }));
    await until(() => connection.frames.some(({ type }) => type === 'rstStream'), 50_000);
    expect((await connection.untilFrame('rstStream', 1)).payload.readUInt32BE()).toBe(codes.cancel);
    expect(connection.frames.filter(({ type }) => type === 'headers')).toEqual([]);
    await expectServingOn(connection, tenant, 3);
  });

  test('a body that arrives slowly, byte by byte', async () => {
    using connection = await open(opening, headersFrame(1, headers()));
    const drip = setInterval(
      () => connection.send(frame('data', { streamId: 1, payload: Buffer.from(' ') })),
      500,
    );
    await until(() => connection.frames.some(({ type }) => type === 'rstStream'), 50_000).finally(() =>
      clearInterval(drip),
    );
    expect(connection.frames.filter(({ type }) => type === 'headers')).toEqual([]);
  });

  test('a client that never opens its flow-control window', async () => {
    // SETTINGS_INITIAL_WINDOW_SIZE 0
    const settings = frame('settings', { payload: Buffer.from([0, 4, 0, 0, 0, 0]) });
    using connection = await open(clientPreface, settings, headersFrame(1, headers()), emptyBatch(1));
    await connection.untilFrame('headers', 1);
    await until(() => connection.frames.some(({ type }) => type === 'rstStream'), 50_000);
    expect(connection.frames.filter(({ type }) => type === 'data')).toEqual([]);
  });
});

test('of 101 concurrent streams the last is refused, and the others are answered', async () => {
  using connection = await open(opening);
  const ids = Array.from({ length: http2StreamsMax + 1 }, (_, index) => 2 * index + 1);
  const refused = ids.at(-1);
  connection.send(...ids.map((id) => headersFrame(id, headers())));
  expect((await connection.untilFrame('rstStream', refused)).payload.readUInt32BE()).toBe(
    codes.refusedStream,
  );
  const accepted = ids.slice(0, -1);
  connection.send(...accepted.map(emptyBatch));
  for (const id of accepted) {
    expect((await connection.untilFrame('data', id)).payload.toString()).toContain('Queued 0 events.');
  }
});

test('a client that opens and resets streams is disconnected, and others are not affected', async () => {
  const reset = (id: number) =>
    Buffer.concat([
      headersFrame(id, headers()),
      frame('data', { streamId: id, payload: Buffer.alloc(1_000, ' ') }),
      frame('rstStream', { streamId: id, payload: uint32(codes.cancel) }),
    ]);
  const burst = Array.from({ length: 10 * http2ResetsBurst }, (_, index) => reset(2 * index + 1));
  for (let times = 0; times < 50; times++) {
    using connection = await open(opening, ...burst);
    await connection.closed;
  }
  await expectServing(pipeline, tenant);
  expect(residentMegabytes()).toBeLessThan(512);
});

test('bodies that are reset half-way are released from the memory budget', async () => {
  // The budget has room for one large body only.
  const bytesMax = Math.ceil((4_200_000 * (spaceShareOfFree + 1)) / spaceShareOfFree);
  await using small = await startProcessPipeline({ INGEST_BYTES_IN_FLIGHT_MAX: String(bytesMax) });
  const { apiKey } = await small.createTenant();
  for (let times = 0; times < 40; times++) {
    using session = await openSession(small);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/ingest-events',
      authorization: `Bearer ${apiKey}`,
    });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.write(Buffer.alloc(500_000, ' '), resolve));
    if (times % 2 === 0) stream.close(codes.cancel);
    else session.destroy();
  }
  const large = [toolEvent({ properties: { tool: { input: 'x'.repeat(4_190_000) } } })];
  await until(async () => (await postEvents(small, { apiKey }, large)).status === 202);
});

test('connections without a valid key are closed when there are many, and clients with one are served meanwhile', async () => {
  using known = await openSession(pipeline);
  const send = () =>
    exchange(
      known,
      {
        ':method': 'POST',
        ':path': '/v1/ingest-events',
        authorization: `Bearer ${tenant.apiKey}`,
      },
      ['{"events":[]}'],
    );
  expect((await send()).status).toBe(202);
  await using connections = new AsyncDisposableStack();
  const closed: number[] = [];
  const { unauthenticatedMax } = limitsOfProcess(1, 0);
  for (let count = 0; count < unauthenticatedMax / http2StreamsMax + 2; count++) {
    const connection = connections.use(await open(opening));
    void connection.closed.then(() => closed.push(count));
    const ids = Array.from({ length: http2StreamsMax }, (_, index) => 2 * index + 1);
    const body = frame('data', { payload: Buffer.alloc(500, ' ') });
    for (const id of ids) {
      body.writeUInt32BE(id, 5);
      connection.send(headersFrame(id, postHeaders(createApiKey())), Buffer.from(body));
    }
  }
  // The oldest. Ingest may see the requests of two connections that were opened one after the other in the
  // other order.
  await until(() => closed.includes(0));
  expect(Math.max(...closed)).toBeLessThanOrEqual(closed.length);
  expect((await send()).status).toBe(202);
  expect(residentMegabytes()).toBeLessThan(512);
});

describe('a flood ends the connection, not the service', () => {
  const floods: [string, Buffer, Buffer][] = [
    [
      'CONTINUATION',
      frame('headers', { streamId: 1, payload: headerBlock([[':method', 'POST']]) }),
      frame('continuation', { streamId: 1, payload: headerBlock([['a', 'b'.repeat(1_000)]]) }),
    ],
    [
      'empty CONTINUATION',
      frame('headers', { streamId: 1, payload: headerBlock([[':method', 'POST']]) }),
      frame('continuation', { streamId: 1 }),
    ],
    ['PING', Buffer.alloc(0), frame('ping', { payload: Buffer.alloc(8) })],
    [
      'SETTINGS',
      Buffer.alloc(0),
      frame('settings', { payload: Buffer.concat(Array(10).fill(Buffer.from([0, 4, 0, 1, 0, 0]))) }),
    ],
  ];
  test.each(floods)('of %s', async (_, first, repeated) => {
    using connection = await open(opening, first);
    // The client reads nothing, so responses to its frames accumulate.
    connection.socket.pause();
    const many = Buffer.concat(Array(10_000).fill(repeated));
    for (let times = 0; times < 20 && !connection.socket.destroyed; times++) {
      const taken = new Promise((resolve) => connection.socket.write(many, resolve));
      await Promise.race([taken, connection.closed]);
    }
    connection.socket.resume();
    await connection.closed;
    await expectServing(pipeline, tenant);
    expect(residentMegabytes()).toBeLessThan(512);
  });
});
