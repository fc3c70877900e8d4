import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.ts';
import { http2StreamsMax } from '../../platform/http/limits.ts';
import { healthWatchersMax } from '../../services/ingest/rpc/health.ts';
import { openSession } from '../support/protocols/http2.ts';
import { envelope } from '../support/protocols/rpc-calls.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

const { pipeline } = usePipeline();

const openClient = () => createClient(Health, createGrpcTransport({ baseUrl: pipeline.url }));

test.each(['', 'weir.ingest.v1.IngestService'])('"%s" is SERVING, without an API key', async (service) => {
  expect((await openClient().check({ service })).status).toBe(Status.SERVING);
  const web = createClient(Health, createGrpcWebTransport({ baseUrl: pipeline.url, httpVersion: '1.1' }));
  expect((await web.check({ service })).status).toBe(Status.SERVING);
});

test('Check of an unknown service is NOT_FOUND, and Watch sends SERVICE_UNKNOWN', async () => {
  const failure = await openClient().check({ service: 'weir.Nope' }).catch(ConnectError.from);
  expect(failure).toMatchObject({ code: Code.NotFound });
  const leaving = new AbortController();
  const watch = openClient().watch({ service: 'weir.Nope' }, { signal: leaving.signal });
  const { value } = await watch[Symbol.asyncIterator]().next();
  expect(value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
  leaving.abort();
});

test('Watch streams are bounded: one more is RESOURCE_EXHAUSTED, and Check still answers', async () => {
  await using stack = new AsyncDisposableStack();
  let watching = 0;
  const open = async (count: number) => {
    const session = stack.use(await openSession(pipeline));
    for (let i = 0; i < count; i++) {
      const headers = {
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Watch',
        'content-type': 'application/grpc',
      };
      const stream = session.request(headers).on('error', () => {});
      stream.once('data', () => (watching += 1)).end(envelope(new Uint8Array()));
    }
  };
  for (let left = healthWatchersMax; left > 0; left -= http2StreamsMax) {
    await open(Math.min(left, http2StreamsMax));
  }
  await until(() => watching === healthWatchersMax);
  const refused = openClient().watch({ service: '' })[Symbol.asyncIterator]().next();
  await expect(refused).rejects.toMatchObject({ code: Code.ResourceExhausted });
  // A busy machine may not serve for a moment.
  await until(async () => (await openClient().check({ service: '' })).status === Status.SERVING);
  await stack.disposeAsync();
  const first = async () =>
    openClient()
      .watch({ service: '' })
      [Symbol.asyncIterator]()
      .next()
      .catch(() => undefined);
  await until(async () => (await first())?.value?.status === Status.SERVING);
});

test('a watcher is notified when the queue goes down and comes back, and when ingest stops', async () => {
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
