import { describe, expect, test } from 'vitest';
import { opening, RawConnection } from '../support/protocols/http2-frames.ts';
import { expectServing, expectServingOn } from '../support/serving.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/** One port serves both protocols; the first bytes of a connection decide. */

const { pipeline, tenant } = usePipeline({ expectNoHarm: true });

const open = (...first: Buffer[]) => RawConnection.open(pipeline, ...first);
describe('the first bytes of a connection tell its protocol', () => {
  const post = () =>
    `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nConnection: close\r\n`;
  const batch = 'Content-Length: 13\r\n\r\n{"events":[]}';

  test('a preface that arrives byte by byte begins HTTP/2', async () => {
    using connection = await open();
    for (const byte of opening) {
      await new Promise((resolve) => connection.socket.write(Buffer.from([byte]), resolve));
    }
    await expectServingOn(connection, tenant, 1);
  });

  test.each([1, 2, 3, 4, 5])('a POST whose first %d bytes arrive alone is HTTP/1.1', async (first) => {
    using connection = await open();
    const bytes = Buffer.from(post() + batch);
    await new Promise((resolve) => connection.socket.write(bytes.subarray(0, first), resolve));
    // A response on another connection shows that ingest has read the first bytes.
    await expectServing(pipeline, tenant);
    connection.send(bytes.subarray(first));
    await connection.closed;
    expect(connection.received.toString()).toMatch(/^HTTP\/1\.1 202 .*Queued 0 events/s);
  });

  test('a method that begins like the preface is HTTP/1.1', async () => {
    for (const method of ['PROPFIND', 'P', 'PR', 'PRI']) {
      using connection = await open(
        Buffer.from(`${method} /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
      );
      await connection.closed;
      expect(connection.received.toString('latin1')).not.toMatch(/^HTTP\/1\.1 [25]/);
    }
  });

  test('a request to upgrade to h2c is served as HTTP/1.1', async () => {
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
    using connection = await open(Buffer.from(post() + upgrade + batch));
    await connection.closed;
    expect(connection.received.toString()).toMatch(/^HTTP\/1\.1 202 .*Queued 0 events/s);
  });

  test('a client may disconnect before its protocol is known', async () => {
    for (const bytes of ['', 'P', 'PRI ', 'POST', 'GET / HTT']) {
      using connection = await open(Buffer.from(bytes));
      connection.socket.resetAndDestroy();
    }
    await expectServing(pipeline, tenant);
  });
});
