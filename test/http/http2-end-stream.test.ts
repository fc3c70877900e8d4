import { Code } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { exchange, openSession } from '../support/protocols/http2.ts';
import {
  flags,
  frame,
  headersFrame,
  opening,
  postHeaders,
  RawConnection,
} from '../support/protocols/http2-frames.ts';
import { envelope } from '../support/protocols/rpc-calls.ts';
import { expectServingOn } from '../support/serving.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/** Every response ends with END_STREAM; only then may RST_STREAM follow (RFC 9113 §8.1). */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });

/** Waits for the end of stream 1. @returns the frames that end it, in order. */
async function endsOf(connection: RawConnection): Promise<string[]> {
  const ends = () =>
    connection.frames
      .filter(({ streamId }) => streamId === 1)
      .flatMap(({ type, flags: set }) => {
        if (type === 'rstStream') return ['rstStream'];
        return (type === 'data' || type === 'headers') && (set & flags.endStream) !== 0 ? ['endStream'] : [];
      });
  await until(() => ends().length > 0 || connection.socket.closed);
  // A response on another stream comes after all remaining frames of this one.
  await expectServingOn(connection, tenant, 3);
  return ends();
}

describe.each(['/healthz', '/readyz', '/v1/openapi.json'])('GET %s', (path) => {
  const headers = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'weir.test'],
    [':path', path],
  ] as const;

  test('the response ends only with END_STREAM', async () => {
    using connection = await RawConnection.open(pipeline, opening, headersFrame(1, headers, true));
    expect(await endsOf(connection)).toEqual(['endStream']);
  });

  test('it does so when the client sends a body that is not read', async () => {
    const body = frame('data', { flags: flags.endStream, streamId: 1, payload: Buffer.from('unread') });
    using connection = await RawConnection.open(pipeline, opening, headersFrame(1, headers), body);
    expect(await endsOf(connection)).toEqual(['endStream']);
  });
});

test('a request that continues after its response is reset after END_STREAM', async () => {
  const headers = postHeaders('no-key', [['content-length', '1000000']]);
  using connection = await RawConnection.open(pipeline, opening, headersFrame(1, headers));
  connection.send(frame('data', { streamId: 1, payload: Buffer.alloc(1_000) }));
  const reset = await connection.untilFrame('rstStream', 1);
  expect(reset.payload.readUInt32BE()).toBe(0);
  expect(await endsOf(connection)).toEqual(['endStream', 'rstStream']);
});

test.each(['application/grpc', 'application/grpc-web+proto'])(
  'a %s call to Health/Check with a name of 66 KB gets its status',
  async (contentType) => {
    const message = Buffer.alloc(66_000, 'x');
    const headers = {
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': contentType,
    };
    using session = await openSession(pipeline);
    const { trailers, body, headers: answered } = await exchange(session, headers, [envelope(message)]);
    const status =
      trailers['grpc-status'] ?? answered['grpc-status'] ?? /grpc-status: ?(\d+)/.exec(String(body))?.[1];
    expect(Number(status)).toBe(Code.ResourceExhausted);
  },
);
