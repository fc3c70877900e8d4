import { randomUUID } from 'node:crypto';
import type { AnyTRPCProcedure } from '@trpc/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';
import { appRouter } from './router.ts';

/** What an intruder asks: everything that the victim's rows could be found by. */
interface Target {
  spaceId: string;
  eventId: string;
  traceId: string;
}

/**
 * How each procedure is asked for something of another space. A procedure that is not here fails the first test:
 * whoever adds one says how it is attacked.
 */
const attacks: Record<string, { scoped: boolean; input: (target: Target) => Record<string, unknown> }> = {
  'auth.signIn': { scoped: false, input: () => ({ email: 'nobody@example.org', password: 'guess' }) },
  'auth.signOut': { scoped: false, input: () => ({}) },
  me: { scoped: false, input: () => ({}) },
  'events.list': { scoped: true, input: ({ traceId }) => ({ traceId }) },
  'events.get': { scoped: true, input: ({ eventId }) => ({ id: eventId }) },
  'usage.current': { scoped: true, input: () => ({}) },
};

// As the router holds them while it runs: by whole path, whatever their depth.
const types = Object.fromEntries(
  Object.entries<unknown>(appRouter._def.procedures).map(([path, procedure]) => [path, typeOf(procedure)]),
);
const procedures = Object.keys(types);
const scoped = procedures.filter((path) => attacks[path]?.scoped);
const canary = `canary-${randomUUID()}`;

let dashboard: TestDashboard;
let intruder: TestSpace;
let target: Target;

beforeAll(async () => {
  dashboard = await openDashboard();
  const victim = await dashboard.addSpace();
  intruder = await dashboard.addSpace();
  const traceId = randomUUID();
  const [eventId = ''] = await addEvents(dashboard.sql, victim.spaceId, [
    { traceId, name: canary, inputPreview: canary, text: `{"secret":"${canary}"}` },
  ]);
  await dashboard.sql`UPDATE spaces SET name = ${canary} WHERE id = ${victim.spaceId}`;
  await dashboard.sql`
    INSERT INTO usage_months (space_id, month, events)
    VALUES (${victim.spaceId}, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 987654321)`;
  target = { spaceId: victim.spaceId, eventId, traceId };
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Calls a procedure by its path, as the intruder or, without a cookie, as a stranger. */
async function call(path: string, input: unknown, cookie = ''): Promise<{ status: number; body: string }> {
  const url = `${dashboard.url}/trpc/${path}`;
  const headers = { cookie, 'content-type': 'application/json' };
  const json = JSON.stringify(input);
  const response =
    types[path] === 'query'
      ? await fetch(`${url}?input=${encodeURIComponent(json)}`, { headers })
      : await fetch(url, { method: 'POST', headers, body: json });
  return { status: response.status, body: await response.text() };
}

function typeOf(procedure: unknown): string {
  return (procedure as AnyTRPCProcedure)._def.type;
}

test('every procedure has an attack', () => {
  expect(Object.keys(attacks).sort()).toEqual(procedures.sort());
});

test('the attacks would find what they look for', async () => {
  const { client } = intruder;
  const { user } = await client.trpc.me.query();
  await dashboard.sql`INSERT INTO memberships VALUES (${target.spaceId}, ${user.id}, 'viewer')`;
  for (const path of scoped) {
    const input = { ...attacks[path]?.input(target), spaceId: target.spaceId };
    expect((await call(path, input, client.cookie)).body).toMatch(new RegExp(`${canary}|987654321`));
  }
  await dashboard.sql`DELETE FROM memberships WHERE space_id = ${target.spaceId} AND user_id = ${user.id}`;
});

test.each(scoped)('%s answers for another space as for one that does not exist', async (path) => {
  const answers = await Promise.all(
    [target.spaceId, target.spaceId.toUpperCase(), randomUUID()].map((spaceId) =>
      call(path, { ...attacks[path]?.input(target), spaceId }, intruder.client.cookie),
    ),
  );
  expect(answers[0]).toMatchObject({ status: 404 });
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

test.each(scoped)('%s answers nothing without a session', async (path) => {
  const input = { ...attacks[path]?.input(target), spaceId: target.spaceId };
  expect(await call(path, input)).toMatchObject({ status: 401 });
});

// In this order: signing out ends what the others need.
test.each(procedures.toSorted((a, b) => Number(a.endsWith('Out')) - Number(b.endsWith('Out'))))(
  '%s shows nothing of another space to whom asks with its ids',
  async (path) => {
    const { body } = await call(path, attacks[path]?.input(target), intruder.client.cookie);
    expect(body).not.toMatch(new RegExp(`${canary}|987654321|${target.spaceId}`));
  },
);
