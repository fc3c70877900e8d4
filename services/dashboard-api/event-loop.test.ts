import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type HeavyCall,
  heaviestCalls,
  heaviestMutations,
  heaviestOfOperators,
  heaviestTools,
} from '../../harness/heavy/heaviest-calls.ts';
import { fillHeavySpace, type HeavySpace } from '../../harness/heavy/heavy-space.ts';
import { openDashboard, type TestDashboard } from '../../test/support/dashboard.ts';
import { measureStall, unitsMax } from '../../test/support/run/event-loop.ts';

let dashboard: TestDashboard;
let owner: Caller;
let program: Caller;
let space: HeavySpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  const { spaceId, email, client } = await dashboard.addSpace();
  await dashboard.sql`UPDATE users SET operator_since = now() WHERE email = ${email}`;
  const { apiKey } = await client.trpc.apiKeys.create.mutate({ spaceId, name: 'reads', scope: 'events' });
  owner = { cookie: client.cookie ?? '' };
  program = { authorization: `Bearer ${apiKey}` };
  space = await fillHeavySpace(dashboard, spaceId, { models: 150, minutes: 720, prices: 5_000 });
}, 300_000);
afterAll(() => dashboard[Symbol.asyncDispose]());

type Caller = Record<string, string>;

test.each([
  {
    ...{ kind: 'query or download', find: heaviestCalls, caller: () => owner },
    accepted: [
      'events.list',
      'traces.get',
      'charts.costs',
      'charts.events',
      'threads.list',
      'erasures.preview',
    ],
  },
  {
    ...{ kind: 'query of operators', find: heaviestOfOperators, caller: () => owner },
    accepted: ['operator.doctor', 'operator.storage'],
  },
  {
    ...{ kind: 'tool for models', find: heaviestTools, caller: () => program },
    accepted: ['mcp get_trace', 'mcp compare_events', 'mcp get_thread'],
  },
  // The last ones: they change the space.
  {
    ...{ kind: 'mutation', find: heaviestMutations, caller: () => owner },
    accepted: ['alerts.save', 'prices.set', 'apiKeys.create', 'invitations.create', 'quarantine.replay'],
  },
])(
  'no $kind holds the event loop for long, whatever it asks of the largest data',
  async (calls) => {
    const tooLong: unknown[] = [];
    const done = new Set<string>();
    for (const call of calls.find(space)) {
      const units = await measureStall(async () => {
        const { status } = await send(call, calls.caller());
        if (status === 200) done.add(call.name.slice(0, call.name.indexOf(' {')));
      });
      if (units > unitsMax) tooLong.push({ name: call.name, units });
    }
    expect(tooLong).toEqual([]);
    // Their inputs are legal.
    expect([...done]).toEqual(expect.arrayContaining(calls.accepted));
  },
  600_000,
);

test('calls at once hold the event loop no longer than one', async () => {
  const calls = heaviestCalls(space).filter(({ name }) => /^(charts|traces\.get)/.test(name));
  expect(await measureStall(() => Promise.all(calls.map((call) => send(call, owner))))).toBeLessThanOrEqual(
    unitsMax,
  );
}, 600_000);

async function send({ path, body }: HeavyCall, headers: Caller): Promise<{ status: number }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const options = body === undefined ? { headers } : { method: 'POST', headers: { ...headers, ...posted } };
    request(`${dashboard.url}${path}`, options, resolve).on('error', reject).end(body);
  });
  for await (const _chunk of response);
  return { status: response.statusCode ?? 0 };
}
