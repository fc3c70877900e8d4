import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { createOwner } from '../../store/accounts/users.ts';
import { openClient } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { openTail } from '../support/live-tail.ts';
import { type Pipeline, startProcessPipeline, type Tenant } from '../support/pipeline.ts';
import { startService } from '../support/service-process.ts';
import { until, untilDrained } from '../support/wait.ts';

async function signIn(pipeline: Pipeline, tenant: Tenant, url: string): Promise<string | undefined> {
  const credentials = { email: `${crypto.randomUUID()}@example.org`, password: crypto.randomUUID() };
  await createOwner(pipeline.database, { ...credentials, spaceId: tenant.spaceId });
  const client = openClient(url);
  await client.trpc.auth.signIn.mutate(credentials);
  return client.cookie;
}

const portOf = (url: string | undefined) => Number(new URL(url ?? '').port);
const random = (max: number) => Math.floor(Math.random() * max);

test('a tail that is disconnected again and again gets every event once, while writer and dashboard are killed', async () => {
  await using pipeline = await startProcessPipeline();
  const { variables } = pipeline;
  const tenant = await pipeline.createTenant();
  await using stack = new AsyncDisposableStack();
  const first = await startService('dashboard-api', { ...variables, DASHBOARD_PORT: '0' });
  const second = stack.use(await startService('dashboard-api', { ...variables, DASHBOARD_PORT: '0' }));
  let killable = first;
  stack.defer(() => killable[Symbol.asyncDispose]());
  const [cutFirst, cutSecond] = [
    stack.use(await TcpProxy.open(portOf(first.ready.url))),
    stack.use(await TcpProxy.open(portOf(second.ready.url))),
  ];
  const addresses = [cutFirst, cutSecond].map(({ port }) => `http://127.0.0.1:${port}`);
  // The cookie's name contains the port, here that of the proxy.
  const cookies = await Promise.all(addresses.map((address) => signIn(pipeline, tenant, address)));
  const all = addresses.map((address, i) => stack.use(openTail(address, cookies[i])));
  const rare = addresses.map((address, i) => stack.use(openTail(address, cookies[i], { userId: 'rare' })));
  await Promise.all([...all, ...rare].map((tail) => tail.ready()));

  const sent: string[] = [];
  const sentRare: string[] = [];
  let isSending = true;
  const send = async () => {
    for (let i = 0; i < 120; i++) {
      const events = someEvents(1 + random(12)).map((event) =>
        random(10) === 0 ? llmEvent({ context: { userId: 'rare' } }) : event,
      );
      // Some events are sent twice, some of them in another batch.
      const { status } = await postEvents(pipeline, tenant, events);
      expect(status).toBe(202);
      if (i % 5 === 0) await postEvents(pipeline, tenant, [...events.slice(1), ...events]);
      sent.push(...events.map(({ id }) => String(id)));
      sentRare.push(
        ...events.flatMap(({ id, context }) =>
          (context as { userId: string }).userId === 'rare' ? [String(id)] : [],
        ),
      );
      await sleep(random(40));
    }
    isSending = false;
  };
  const sending = send();
  for (let round = 0; isSending; round++) {
    await sleep(100 + random(300));
    // Each is cut at least once, also when sending takes few rounds.
    for (const proxy of [cutFirst, cutSecond]) if (round === 0 || random(2) === 0) proxy.reset();
    if (round % 4 === 1) {
      await pipeline.writer.stop('SIGKILL');
      pipeline.writer = await pipeline.start('writer');
    }
    if (round % 4 === 3) {
      await killable.stop(round % 8 === 3 ? 'SIGKILL' : 'SIGTERM');
      killable = await startService('dashboard-api', {
        ...variables,
        DASHBOARD_PORT: String(portOf(first.ready.url)),
      });
    }
  }
  await sending;
  await untilDrained(pipeline);
  const isDone = () =>
    all.every((tail) => tail.eventIds().length >= sent.length) &&
    rare.every((tail) => tail.eventIds().length >= sentRare.length);
  await until(isDone, 30_000).catch(() => {});
  expect(sentRare.length).toBeGreaterThan(0);
  for (const tail of all) expect(tail.eventIds().toSorted()).toEqual(sent.toSorted());
  for (const tail of rare) expect(tail.eventIds().toSorted()).toEqual(sentRare.toSorted());
  for (const tail of [...all, ...rare]) {
    expect(tail.failure).toBeUndefined();
    expect(tail.connections).toBeGreaterThan(1);
    expect(tail.messages.filter(({ data }) => data.type === 'skipped')).toEqual([]);
  }
});

test('an event is shown before the next poll when nats-server notifies, and after a poll without it', async () => {
  await using pipeline = await startProcessPipeline();
  const { NATS_URL: _, ...withoutNats } = pipeline.variables;
  const tenant = await pipeline.createTenant();
  for (const variables of [pipeline.variables, withoutNats]) {
    await using dashboard = await startService('dashboard-api', { ...variables, DASHBOARD_PORT: '0' });
    const url = dashboard.ready.url ?? '';
    using tail = openTail(url, await signIn(pipeline, tenant, url));
    await tail.ready();
    const events = someEvents(1);
    await postEvents(pipeline, tenant, events);
    await until(() => tail.eventIds().length === 1);
    expect(tail.eventIds()).toEqual(events.map(({ id }) => id));
  }
});
