import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type ClientHttp2Session, constants } from 'node:http2';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { Health } from '../../gen/grpc/health/v1/health_pb.ts';
import { ErrorDetailSchema } from '../../gen/weir/ingest/v1/error_detail_pb.ts';
import { IngestService } from '../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { codeOf } from '../../platform/thrown.ts';
import { type Pipeline, startProcessPipeline, type Tenant } from '../support/pipeline.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import {
  frame,
  headersFrame,
  opening,
  postHeaders,
  RawConnection,
} from '../support/protocols/http2-frames.ts';
import { toMessage } from '../support/protocols/message.ts';
import { expectServing } from '../support/serving.ts';
import { until, untilDrained } from '../support/wait.ts';

/** The outcomes that a client records. */
class Journal {
  readonly accepted: string[] = [];
  readonly rejected: unknown[] = [];
  /** HTTP/2 streams without a response that GOAWAY did not mark as unprocessed. */
  readonly dropped: unknown[] = [];
}

type Client = (pipeline: Pipeline, tenant: Tenant, journal: Journal) => Promise<void>;

/** Sends JSON over an HTTP/1.1 keep-alive connection, until the connection is refused. */
async function sendOverHttp1({ url }: Pipeline, tenant: Tenant, journal: Journal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  for (let gone = false; !gone; ) {
    const event = llmEvent();
    const sending = request(`${url}/v1/ingest-events`, { method: 'POST', agent, headers });
    sending.end(JSON.stringify({ events: [event] }));
    try {
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      const body = await json(response);
      if (response.statusCode === 202) journal.accepted.push(String(event.id));
      else journal.rejected.push(body);
    } catch (error) {
      gone = codeOf(error) === 'ECONNREFUSED';
    }
  }
  agent.destroy();
}

/** Sends JSON over HTTP/2 on eight concurrent streams, until the session ends. */
async function sendOverHttp2(pipeline: Pipeline, tenant: Tenant, journal: Journal): Promise<void> {
  using session = await openSession(pipeline);
  const last = { id: Number.POSITIVE_INFINITY };
  session.on('goaway', (_, lastStreamId) => {
    last.id = lastStreamId;
  });
  const sendInTurn = async () => {
    while (!session.closed && !session.destroyed) await sendStream(session, tenant, { journal, last });
  };
  await Promise.all(Array.from({ length: 8 }, sendInTurn));
}

async function sendStream(
  session: ClientHttp2Session,
  { apiKey }: Tenant,
  { journal, last }: { journal: Journal; last: { id: number } },
): Promise<void> {
  const event = llmEvent();
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/ingest-events',
    authorization: `Bearer ${apiKey}`,
  });
  stream.on('error', () => {});
  let status = 0;
  stream.on('response', (headers) => {
    status = Number(headers[':status']);
  });
  stream.resume().end(JSON.stringify({ events: [event] }));
  await new Promise((resolve) => stream.once('close', resolve));
  if (status === 202) journal.accepted.push(String(event.id));
  else if (status !== 0) journal.rejected.push(status);
  // Streams up to GOAWAY's last stream id are processed, and must get a response (RFC 9113 §6.8).
  else if (
    stream.id !== undefined &&
    stream.id <= last.id &&
    stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM
  ) {
    journal.dropped.push({ id: stream.id, last: last.id, code: stream.rstCode });
  }
}

/** Calls the RPC until the connection is refused. */
function sendCalls(open: (baseUrl: string) => Transport): Client {
  return async ({ url }, { apiKey }, journal) => {
    const client = createClient(IngestService, open(url));
    for (let gone = false; !gone; ) {
      const event = llmEvent();
      try {
        await client.ingestEvents(
          { events: [toMessage(event)] },
          { headers: { authorization: `Bearer ${apiKey}` } },
        );
        journal.accepted.push(String(event.id));
      } catch (thrown) {
        const error = ConnectError.from(thrown);
        if (error.findDetails(ErrorDetailSchema).length > 0) journal.rejected.push(error.message);
        gone = /ECONNREFUSED/.test(`${error.message} ${error.cause}`);
      }
    }
  };
}

const clients: Record<string, Client> = {
  'JSON over HTTP/1.1': sendOverHttp1,
  'JSON over HTTP/2': sendOverHttp2,
  gRPC: sendCalls((baseUrl) => createGrpcTransport({ baseUrl })),
  'Connect over HTTP/1.1': sendCalls((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' })),
  'Connect over HTTP/2': sendCalls((baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' })),
};

test('SIGTERM under load: every request is accepted or not processed, and every accepted event is stored', async () => {
  await using pipeline = await startProcessPipeline();
  const tenant = await pipeline.createTenant();
  const journals = Object.entries(clients).map(([name, send]) => {
    const journal = new Journal();
    return { name, journal, sending: send(pipeline, tenant, journal) };
  });
  await until(() => journals.every(({ journal }) => journal.accepted.length >= 50));
  expect(await pipeline.ingest.stop('SIGTERM')).toBe(0);
  await Promise.all(journals.map(({ sending }) => sending));
  for (const { name, journal } of journals) {
    expect({ name, rejected: journal.rejected, dropped: journal.dropped }).toEqual({
      name,
      rejected: [],
      dropped: [],
    });
  }
  await untilDrained(pipeline);
  const accepted = journals.flatMap(({ journal }) => journal.accepted);
  const rows = await pipeline.sql<{ id: string }[]>`
    SELECT id FROM events WHERE space_id = ${tenant.spaceId}`;
  const stored = new Set(rows.map(({ id }) => id));
  expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
});

test('a request that has begun before SIGTERM gets its response, over HTTP/1.1 and HTTP/2', async () => {
  await using pipeline = await startProcessPipeline();
  const tenant = await pipeline.createTenant();
  const [begun, rest] = ['{"events"', ':[]}'];
  using session = await openSession(pipeline);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/ingest-events',
    authorization: `Bearer ${tenant.apiKey}`,
  });
  stream.write(begun);
  using connection = await RawConnection.open(
    pipeline,
    Buffer.from(
      `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 13\r\n\r\n${begun}`,
    ),
  );
  // These responses show that ingest has received the bytes that were sent before.
  expect((await exchange(session, { ':path': '/healthz' })).status).toBe(200);
  await expectServing(pipeline, tenant);
  const told = once(session, 'goaway');
  const stopped = pipeline.ingest.stop('SIGTERM');
  await told;
  stream.end(rest);
  connection.send(Buffer.from(rest));
  const [headers] = await once(stream.resume(), 'response');
  expect(headers[':status']).toBe(202);
  await connection.closed;
  expect(connection.received.toString()).toMatch(/^HTTP\/1\.1 202 .*Queued 0 events/s);
  expect(await stopped).toBe(0);
});

test('idle, silent, watching and half-finished connections do not delay the exit beyond the drain time', async () => {
  await using pipeline = await startProcessPipeline();
  const { apiKey } = await pipeline.createTenant();
  const { hostname, port } = new URL(pipeline.url);
  const agent = new Agent({ keepAlive: true });
  const [idle] = (await once(request(`${pipeline.url}/healthz`, { agent }).end(), 'response')) as [
    IncomingMessage,
  ];
  await json(idle);
  using _session = await openSession(pipeline);
  using _half = await RawConnection.open(
    pipeline,
    opening,
    headersFrame(1, postHeaders(apiKey)),
    frame('data', { streamId: 1, payload: Buffer.from('{') }),
  );
  const heads = [
    '',
    'P',
    'PRI ',
    'POST /v1',
    `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Length: 9\r\n\r\n{`,
  ];
  const sockets = heads.map((head) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.on('error', () => {}).resume();
    if (head !== '') socket.write(head);
    return socket;
  });
  const health = createClient(Health, createGrpcTransport({ baseUrl: pipeline.url }));
  const watching = health.watch({})[Symbol.asyncIterator]();
  expect((await watching.next()).value).toMatchObject({ status: 1 });
  // The exit code is 1 when the drain times out.
  expect(await pipeline.ingest.stop('SIGTERM')).toBe(0);
  for (const socket of sockets) socket.destroy();
  agent.destroy();
});
