import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { largeBatches, readCostlyInTurn } from '../../services/ingest/limits.ts';
import { openDatabaseOutage } from '../support/database-outage.ts';
import { postEvents } from '../support/http.ts';
import { startProcessPipeline } from '../support/pipeline.ts';
import { openSession } from '../support/protocols/http2.ts';
import { toRequest } from '../support/protocols/message.ts';
import { call } from '../support/protocols/rpc-calls.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

describe('with a memory budget of 4 MB', () => {
  const { pipeline } = useProcessPipeline({ variables: { INGEST_BYTES_IN_FLIGHT_MAX: '4000000' } });

  test('a batch beyond the memory budget is answered with 503 and Retry-After; a small one is accepted', async () => {
    const tenant = await pipeline.createTenant();
    const large = toolEvent({ properties: { tool: { input: 'x'.repeat(4_100_000) } } });
    const answer = await postEvents(pipeline, tenant, [large]);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.body).toMatchObject({ error: { id: 'ingest_unavailable' } });
    expect((await postEvents(pipeline, tenant, [llmEvent()])).status).toBe(202);
  });

  test('a space whose uploads stall cannot use the whole memory budget', async () => {
    const [stalling, other] = [await pipeline.createTenant(), await pipeline.createTenant()];
    const { hostname, port } = new URL(pipeline.url);
    await using sockets = new AsyncDisposableStack();
    const stallAnother = () => {
      const socket = sockets.adopt(connect(Number(port), hostname), (one) => void one.destroy());
      socket.on('error', () => {});
      const head = `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stalling.apiKey}\r\nContent-Length: 900000\r\n\r\n`;
      socket.write(head + ' '.repeat(600_000));
    };
    const large = toolEvent({ properties: { tool: { input: 'x'.repeat(900_000) } } });
    // Polls, because an upload may be accepted while the others have not sent much yet.
    await until(async () => {
      stallAnother();
      return (await postEvents(pipeline, stalling, [large])).status === 503;
    });
    expect((await postEvents(pipeline, other, [large])).status).toBe(202);
  });

  test('the decoded JSON of an RPC counts against the memory budget until the batch is answered', async () => {
    const { apiKey } = await pipeline.createTenant();
    using session = await openSession(pipeline);
    // Each of these characters takes one byte in protobuf and six in JSON.
    const send = (chars: number) => {
      const event = toolEvent({ properties: { tool: { input: '\x01'.repeat(chars) } } });
      return call(session, 'grpc', toRequest([event]), { headers: { authorization: `Bearer ${apiKey}` } });
    };
    expect(await send(600_000)).toMatchObject({ code: 'Unavailable', id: 'ingest_unavailable' });
    for (let times = 0; times < 10; times++) expect(await send(400_000)).toMatchObject({ code: 'Ok' });
  });

  test('the memory of a body whose client disconnects is released from the budget', async () => {
    const tenant = await pipeline.createTenant();
    const { hostname, port } = new URL(pipeline.url);
    for (let times = 0; times < 20; times++) {
      // Ingest may refuse the body and reset the connection.
      const socket = connect(Number(port), hostname).on('error', () => {});
      const head = `POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.apiKey}\r\nContent-Length: 900000\r\n\r\n`;
      await new Promise((resolve) => socket.write(head + ' '.repeat(600_000), resolve));
      socket.destroy();
    }
    const large = toolEvent({ properties: { tool: { input: 'x'.repeat(900_000) } } });
    await until(async () => (await postEvents(pipeline, tenant, [large])).status === 202);
  });
});

test('a full queue is answered with 503, and events are accepted again after the writer has drained it', async () => {
  await using pipeline = await startProcessPipeline({ QUEUE_BYTES_MAX: '300000' });
  const tenant = await pipeline.createTenant();
  pipeline.writer.kill('SIGSTOP');
  let accepted = 0;
  for (let status = 202; status === 202; ) {
    // Random, so that it cannot be compressed.
    const events = someEvents(20).map((event) => ({
      ...event,
      random: crypto.getRandomValues(Buffer.alloc(500)).toString('base64'),
    }));
    ({ status } = await postEvents(pipeline, tenant, events));
    if (status === 202) accepted += 20;
    else expect(status).toBe(503);
  }
  expect(accepted).toBeGreaterThan(0);
  pipeline.writer.kill('SIGCONT');
  await until(async () => (await postEvents(pipeline, tenant, [llmEvent()])).status === 202);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted + 1);
});

describe('with the default limits', () => {
  const { pipeline } = useProcessPipeline();

  test('batches that are expensive to parse are stored, those of a space beyond its limit get 503, and its neighbour none', async () => {
    const [tenant, neighbour] = [await pipeline.createTenant(), await pipeline.createTenant()];
    const costly = () =>
      toolEvent({
        properties: { tool: { input: Array.from({ length: 3 * largeBatches.limits.valuesMax }, () => []) } },
      });
    const sent = Array.from({ length: 14 }, () => postEvents(pipeline, tenant, [costly()]));
    for (let times = 0; times < 3; times++)
      expect((await postEvents(pipeline, neighbour, [costly()])).status).toBe(202);
    const answers = await Promise.all(sent);
    const accepted = answers.filter(({ status }) => status === 202).length;
    expect(accepted).toBeGreaterThanOrEqual(readCostlyInTurn.waitingOfUserMax);
    for (const { status, headers } of answers) {
      if (status !== 202) expect([status, headers.has('retry-after')]).toEqual([503, true]);
    }
    expect((await postEvents(pipeline, tenant, [costly()])).status).toBe(202);
    await untilDrained(pipeline);
    expect(await countRows(pipeline, tenant.spaceId)).toBe(accepted + 1);
  });

  test('while Postgres is down, cached keys are accepted and other keys get 503', async () => {
    const [known, unknown] = [await pipeline.createTenant(), await pipeline.createTenant()];
    expect((await postEvents(pipeline, known, [llmEvent()])).status).toBe(202);
    await using outage = openDatabaseOutage(pipeline);
    // Repeated, to terminate connections in as many states as possible.
    for (let times = 0; times < 20; times++) {
      await outage.terminate();
      await postEvents(pipeline, known, [llmEvent()]);
    }
    await outage.begin();
    expect((await postEvents(pipeline, known, someEvents(5))).status).toBe(202);
    const answer = await postEvents(pipeline, unknown, [llmEvent()]);
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
    expect(pipeline.writer.isRunning()).toBe(true);
    await outage.end();
    await untilDrained(pipeline);
    expect(await countRows(pipeline, known.spaceId)).toBe(26);
    expect((await postEvents(pipeline, unknown, [llmEvent()])).status).toBe(202);
  });

  test('while Postgres is down, the last known usage decides: a space below its limit gets no 402 and does not exceed it', async () => {
    const below = await pipeline.createTenant({ monthlyEventLimit: 10 });
    const reached = await pipeline.createTenant({ monthlyEventLimit: 5 });
    expect((await postEvents(pipeline, below, someEvents(6))).status).toBe(202);
    expect((await postEvents(pipeline, reached, someEvents(5))).status).toBe(202);
    await untilDrained(pipeline);
    await until(async () => (await postEvents(pipeline, reached, [llmEvent()])).status === 402);
    await using outage = openDatabaseOutage(pipeline);
    await outage.begin();
    // The first of these batches crosses the limit, which is only known once it is counted.
    expect((await postEvents(pipeline, below, someEvents(6))).status).toBe(202);
    expect((await postEvents(pipeline, below, someEvents(6))).status).toBe(503);
    expect((await postEvents(pipeline, reached, [llmEvent()])).status).toBe(402);
    await outage.end();
    await untilDrained(pipeline);
    expect(await countRows(pipeline, below.spaceId)).toBe(12);
    await until(async () => (await postEvents(pipeline, below, [llmEvent()])).status === 402);
    expect(await countUsage(pipeline, below.spaceId)).toBe(12);
  });
});
