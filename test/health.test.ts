import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../gen/grpc/health/v1/health_pb.ts';
import { type Pipeline, startPipeline } from './support/pipeline.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

const openClient = () => createClient(Health, createGrpcTransport({ baseUrl: pipeline.url }));

test.each(['', 'weir.ingest.v1.IngestService'])('"%s" is served, to anybody', async (service) => {
  expect((await openClient().check({ service })).status).toBe(Status.SERVING);
  const web = createClient(Health, createGrpcWebTransport({ baseUrl: pipeline.url, httpVersion: '1.1' }));
  expect((await web.check({ service })).status).toBe(Status.SERVING);
});

test('a service that is not here is not found, and unknown to who watches it', async () => {
  const failure = await openClient().check({ service: 'weir.Nope' }).catch(ConnectError.from);
  expect(failure).toMatchObject({ code: Code.NotFound });
  for await (const { status } of openClient().watch({ service: 'weir.Nope' })) {
    expect(status).toBe(Status.SERVICE_UNKNOWN);
    break;
  }
});

test('who watches is told when the queue goes and comes, and when ingest stops', async () => {
  const watch = openClient().watch({ service: '' })[Symbol.asyncIterator]();
  const next = async () => ((await watch.next()).value as { status: Status } | undefined)?.status;
  expect(await next()).toBe(Status.SERVING);
  process.kill(pipeline.nats.pid, 'SIGSTOP');
  expect(await next()).toBe(Status.NOT_SERVING);
  process.kill(pipeline.nats.pid, 'SIGCONT');
  expect(await next()).toBe(Status.SERVING);
  const stopped = pipeline.ingest.stop('SIGTERM');
  expect(await next()).toBe(Status.NOT_SERVING);
  expect(await next()).toBeUndefined();
  expect(await stopped).toBe(0);
});
