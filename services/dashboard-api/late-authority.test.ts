import { once } from 'node:events';
import { request } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig, requireConfig } from '../../platform/config.ts';
import { SpaceShares } from '../../platform/metrics/space-metrics.ts';
import { setRole } from '../../store/accounts/memberships.ts';
import { roles } from '../../store/accounts/role.ts';
import { passkeys, usedChallenges } from '../../store/db/schema.ts';
import {
  dashboardPepper,
  dashboardPublicUrl,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';
import type { Change } from '../../test/support/protocols/change.ts';
import { changesOf } from '../../test/support/protocols/dashboard-changes.ts';
import { type Procedure, procedures } from '../../test/support/protocols/procedures.ts';
import { readRows } from '../../test/support/table-rows.ts';
import { appRouter } from './router.ts';
import { openServices } from './services.ts';
import { openContext, type Services } from './trpc/context.ts';

/**
 * Calls every mutation that needs a session as an owner who loses the required right between the start of the
 * call and the change. Nothing may change then.
 */

let dashboard: TestDashboard;
let bystander: TestSpace;
let services: Services;
beforeAll(async () => {
  dashboard = await openDashboard();
  bystander = await dashboard.addSpace();
  const variables = { API_KEY_PEPPER: dashboardPepper, DASHBOARD_PUBLIC_URL: dashboardPublicUrl };
  const config = requireConfig(parseConfig(variables), ['API_KEY_PEPPER']);
  const { database } = dashboard;
  const databases = { spaces: database, accounts: database, installation: database };
  const log = pino({ level: 'silent' });
  services = await openServices(databases, config, {
    log,
    relayChanges: async () => {},
    shares: new SpaceShares(),
    searcher: { find: async () => [] },
  });
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Ways to lose a right, with the procedures that they affect. */
const losses = {
  'removed from the space': {
    ends: ({ access }: Procedure) => access !== 'signed in',
    lose: ({ spaceId }: TestSpace) =>
      dashboard.sql`DELETE FROM memberships WHERE space_id = ${spaceId} AND role = 'owner'`,
  },
  demoted: {
    ends: ({ access }: Procedure) => access !== 'signed in' && access !== 'viewer',
    lose: async (space: TestSpace) => {
      const { user } = await space.client.trpc.me.query();
      await setRole(dashboard.database, space.spaceId, { userId: user.id, role: 'viewer' });
    },
  },
  'signed out': {
    ends: () => true,
    lose: (space: TestSpace) => space.client.trpc.auth.signOut.mutate(),
  },
};

const guarded = procedures.filter(({ type, access }) => type === 'mutation' && access !== 'everybody');
const cases = Object.entries(losses).flatMap(([how, { ends, lose }]) =>
  guarded.filter(ends).map((procedure) => [procedure.path, how, lose] as const),
);
const prepared = async (path: string, space: TestSpace): Promise<Change> => {
  const change = await changesOf(dashboard, space)[path]?.();
  if (change === undefined) throw new Error(`test/support/protocols/dashboard-changes.ts lacks ${path}`);
  return change;
};

test('the roles of the cases are those of the router', () => {
  expect(guarded.length).toBeGreaterThan(12);
  expect(guarded.filter(({ access }) => roles.some((role) => role === access)).length).toBeGreaterThan(9);
});

test.each(cases)('%s of a user who is %s while the body is being sent is refused', async (path, _, lose) => {
  const space = await dashboard.addSpace();
  const { input, cookie = '' } = await prepared(path, space);
  const body = JSON.stringify(input ?? {});
  const held = request(`${dashboard.url}/trpc/${path}`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'content-length': body.length },
  });
  const answered = once(held, 'response');
  held.write(body.slice(0, body.length / 2));
  await once(held, 'socket');
  // A later request is answered, so the server has received the head of this one.
  for (let i = 0; i < 3; i++) await bystander.client.trpc.me.query();
  await lose(space);
  const before = await readRows(dashboard);
  held.end(body.slice(body.length / 2));
  const [response] = await answered;
  response.resume();
  expect([401, 403, 404]).toContain(response.statusCode);
  expect(await readRows(dashboard)).toEqual(before);
});

test.each(cases)('%s of a user who is %s after the check changes nothing', async (path, _, lose) => {
  const space = await dashboard.addSpace();
  const { input, cookie = '' } = await prepared(path, space);
  const user = await services.sessions.find(cookie.split('=')[1] ?? '');
  const context = openContext(services, {
    token: undefined,
    readKey: undefined,
    address: '127.0.0.1',
    userAgent: null,
    isCrossSite: false,
    sender: { address: '127.0.0.1', userId: undefined },
    setSession: () => {},
    setStep: () => {},
    step: undefined,
    host: undefined,
    beginStream: () => new DisposableStack(),
  });
  await lose(space);
  // A passkey's answer is used up before the session is renewed.
  const without = path === 'auth.confirmWithPasskey' ? [passkeys, usedChallenges] : [];
  const before = await readRows(dashboard, without);
  // The check used the earlier state; the statement must use the current one.
  const caller = appRouter.createCaller({ ...context, findUser: async () => user });
  const call = path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name), caller);
  const outcome = (call as (input: unknown) => Promise<unknown>)(input);
  const refused = expect.stringMatching(/^(FORBIDDEN|NOT_FOUND)$/);
  // It only records the selected space in the session, if the session still exists.
  if (path === 'spaces.switch') await outcome;
  else await expect(outcome).rejects.toMatchObject({ code: refused });
  expect(await readRows(dashboard, without)).toEqual(before);
});
