import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { mediaOf } from '../../../harness/fixtures/media.ts';
import { createApiKey, hashApiKey } from '../../../store/accounts/api-key.ts';
import { issueApiKey, revokeApiKey } from '../../../store/accounts/api-keys.ts';
import { type KeyScope, type ReadScope, readScopes, roleOfScope } from '../../../store/accounts/key-scope.ts';
import { hasRole, type Role, roles } from '../../../store/accounts/role.ts';
import { apiKeys } from '../../../store/db/schema.ts';
import { storeMedia } from '../../../store/media/store-media.ts';
import {
  addEvents,
  dashboardPepper,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { changesOf } from '../../../test/support/protocols/dashboard-changes.ts';
import {
  callProcedure,
  type Procedure,
  procedures,
  sampleInput,
} from '../../../test/support/protocols/procedures.ts';
import { readRows } from '../../../test/support/table-rows.ts';
import { until, untilApplied } from '../../../test/support/wait.ts';
import { openReadKeys } from './read-keys.ts';

/**
 * Read keys against every procedure of the router and every download: new procedures are tested
 * automatically.
 */

const mediaId = 'm'.repeat(22);
const canary = `canary-${randomUUID()}`;
const withinMs = 1_000;
/** On a busy machine a change may be noticed later. */
const mayBeLate = { retry: 2 };

let dashboard: TestDashboard;
let space: TestSpace;
let other: TestSpace;
let traceId: string;
let eventId: string;
let otherEventId: string;
const keys = new Map<ReadScope, string>();
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
  other = await dashboard.addSpace();
  traceId = randomUUID();
  [eventId = ''] = await addEvents(dashboard.sql, space.spaceId, [{ id: traceId, traceId, text: '{"a":1}' }]);
  [otherEventId = ''] = await addEvents(dashboard.sql, other.spaceId, [
    { name: canary, inputPreview: canary, text: `{"secret":"${canary}"}` },
  ]);
  for (const { spaceId } of [space, other])
    await storeMedia(dashboard.database, spaceId, [{ receivedAtMs: 1n, media: mediaOf({ id: mediaId }) }]);
  for (const scope of readScopes) keys.set(scope, (await issue(scope)).apiKey);
});
afterAll(() => dashboard[Symbol.asyncDispose]());
/**
 * Calls with a second factor add one, and the calls after them would need it. The call that restores a space
 * deletes it first.
 */
afterEach(async () => {
  await dashboard.sql`UPDATE spaces SET delete_at = NULL`;
  await dashboard.sql`DELETE FROM totp_secrets`;
  await dashboard.sql`DELETE FROM passkeys`;
});

const issue = (scope: KeyScope, expiresAt?: Date) =>
  issueApiKey(dashboard.database, space.spaceId, { name: 'k', pepper: dashboardPepper, scope, expiresAt });
const keyOf = (scope: ReadScope) => keys.get(scope) ?? '';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const call = (procedure: Pick<Procedure, 'path' | 'type'>, input: unknown, key: string) =>
  callProcedure(dashboard.url, procedure, input, bearer(key));
const list = async (key: string) => (await call({ path: 'events.list', type: 'query' }, {}, key)).status;
const get = (path: string, key: string) => fetch(`${dashboard.url}${path}`, { headers: bearer(key) });

const all = procedures.map((procedure) => [procedure.path, procedure] as const);
const mutations = all.filter(([, { type }]) => type === 'mutation');
const reads = all.filter(([, { type }]) => type !== 'mutation');
const isScoped = ({ access }: Procedure): boolean => roles.some((role) => role === access);

/** The procedures of the scope `statistics`. A new one is added here on purpose: it must return no event. */
const statistics = [
  ...['charts.costs', 'charts.dimensions', 'charts.events', 'events.histogram', 'prices.list', 'spaces.get'],
  ...['prices.models', 'senders.list', 'senders.largeTraces', 'charts.delays'],
  ...['usage.current', 'usage.daily', 'usage.months'],
];

test.each(mutations)('%s is refused to every read key, also with the cookie of an owner', async (path) => {
  const change = await changesOf(dashboard, space)[path]?.();
  const before = await readRows(dashboard);
  for (const scope of readScopes) {
    for (const cookie of [{}, { cookie: space.client.cookie ?? '' }]) {
      const headers = { ...bearer(keyOf(scope)), ...cookie };
      const outcome = await callProcedure(dashboard.url, { path, type: 'mutation' }, change?.input, headers);
      expect([scope, outcome.status]).toEqual([scope, 403]);
    }
  }
  expect(await readRows(dashboard)).toEqual(before);
});

test.each(reads)('%s is answered to the read keys whose scope has it', async (path, procedure) => {
  const input = sampleInput(procedure, { spaceId: undefined, id: eventId, email: 'x@example.org' });
  for (const scope of readScopes) {
    const { status } = await call(procedure, input, keyOf(scope));
    const role = roleOfScope[scope];
    const may =
      procedure.access === 'everybody' ||
      (isScoped(procedure) &&
        hasRole(role, procedure.access as Role) &&
        (scope !== 'statistics' || statistics.includes(path)));
    // Not found: the generated id is not one of a thread, for example.
    const answered = may ? [200, 404] : [403];
    expect([scope, path, answered.includes(status) || status]).toEqual([scope, path, true]);
  }
});

test.each(reads)('%s shows a read key nothing of another space', async (_path, procedure) => {
  const input = { id: otherEventId, email: other.email, spaceId: other.spaceId };
  for (const scope of readScopes) {
    const named = await call(procedure, sampleInput(procedure, input), keyOf(scope));
    if (isScoped(procedure)) expect(named.status).toBe(404);
    const own = await call(procedure, sampleInput(procedure, { ...input, spaceId: undefined }), keyOf(scope));
    expect(own.status).toBeLessThan(500);
    for (const { body } of [named, own]) expect(body).not.toMatch(new RegExp(`${canary}|${other.email}`));
  }
});

test('downloads follow the scope and the space of the key', async () => {
  const { spaceId } = space;
  const paths = [
    ...[`/raw/${spaceId}/${eventId}`, `/media/${spaceId}/${mediaId}`],
    ...[`/export/${spaceId}?format=csv`, `/audit/${spaceId}`],
  ];
  const statuses: Record<string, number[]> = {};
  for (const scope of readScopes)
    statuses[scope] = await Promise.all(paths.map(async (path) => (await get(path, keyOf(scope))).status));
  expect(statuses).toEqual({
    statistics: [403, 403, 403, 403],
    events: [200, 200, 200, 403],
    administration: [200, 200, 200, 200],
  });
  for (const path of [
    ...[`/raw/${other.spaceId}/${otherEventId}`, `/media/${other.spaceId}/${mediaId}`],
    `/export/${other.spaceId}?format=csv`,
  ])
    expect((await get(path, keyOf('administration'))).status).toBe(404);
});

test('keys that send events, unknown, revoked and expired keys read nothing', async () => {
  const ingest = await issue('ingest');
  const revoked = await issue('events');
  await revokeApiKey(dashboard.database, revoked.keyId);
  const expired = await issue('events', new Date(Date.now() - 1));
  const typo = keyOf('events').replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  for (const key of [
    ingest.apiKey,
    revoked.apiKey,
    expired.apiKey,
    createApiKey('events'),
    typo,
    'weir_read_',
  ]) {
    expect(await list(key)).toBe(401);
    expect((await get(`/export/${space.spaceId}?format=csv`, key)).status).toBe(401);
    // A key that is not valid is not replaced by a session.
    const headers = { ...bearer(key), cookie: space.client.cookie ?? '' };
    const both = await callProcedure(dashboard.url, { path: 'events.list', type: 'query' }, {}, headers);
    expect(both.status).toBe(401);
  }
});

test('the credentials of a proxy in front of the dashboard do not replace a session', async () => {
  for (const authorization of ['Basic dTpw', 'Bearer eyJh.eyJz.c2ln']) {
    const headers = { authorization, cookie: space.client.cookie ?? '' };
    const { status } = await callProcedure(
      dashboard.url,
      { path: 'events.list', type: 'query' },
      {},
      headers,
    );
    expect(status).toBe(200);
  }
});

test(
  'a key that was tried before it existed works within a second, and its use is recorded',
  mayBeLate,
  async () => {
    const key = createApiKey('events');
    expect(await list(key)).toBe(401);
    const [row] = await dashboard.database
      .insert(apiKeys)
      .values({
        spaceId: space.spaceId,
        name: 'early',
        hash: hashApiKey(key, dashboardPepper),
        lastFour: '',
        scope: 'events',
      })
      .returning({ id: apiKeys.id });
    await untilApplied(async () => (await list(key)) === 200);
    const listed = await space.client.trpc.apiKeys.list.query();
    const { lastUsedAt } = listed.find(({ id }) => id === row?.id) ?? {};
    expect(Date.parse(lastUsedAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
  },
);

test('a valid key does not wait behind a flood of invented ones', async () => {
  const readKeys = openReadKeys(dashboard.database, dashboardPepper);
  expect(await readKeys.find(keyOf('events'))).toMatchObject({ scope: 'events' });
  let settled = 0;
  const flood = Array.from({ length: 300 }, () =>
    readKeys.find(createApiKey('events')).then(() => {
      settled += 1;
    }),
  );
  expect(await readKeys.find(keyOf('events'))).toMatchObject({ scope: 'events' });
  // With two look-ups at a time, most of the flood is still waiting.
  expect(settled).toBeLessThan(150);
  await Promise.all(flood);
});

test('a live stream of a key ends within a second after the key is revoked', mayBeLate, async () => {
  const { keyId, apiKey } = await issue('events');
  const response = await get(`/trpc/live.tail?input=${encodeURIComponent('{}')}`, apiKey);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reading = response.text();
  await revokeApiKey(dashboard.database, keyId);
  const late = AbortSignal.timeout(withinMs);
  expect(await reading).toContain('UNAUTHORIZED');
  expect(late.aborted).toBe(false);
});

test('an admin creates, lists and rolls read keys, each with its scope', async () => {
  const { trpc } = space.client;
  const created = await trpc.apiKeys.create.mutate({ name: 'grafana', scope: 'statistics' });
  expect(created.apiKey).toMatch(/^weir_read_\w{38}$/);
  const rolled = await trpc.apiKeys.roll.mutate({ keyId: created.keyId, overlapHours: 0 });
  expect([await list(created.apiKey), await list(rolled.apiKey)]).toEqual([401, 403]);
  const usage = { path: 'usage.current', type: 'query' } as const;
  expect((await call(usage, {}, rolled.apiKey)).status).toBe(200);
  const listed = (await trpc.apiKeys.list.query()).find(({ id }) => id === rolled.keyId);
  expect(listed).toMatchObject({ scope: 'statistics', prefix: 'weir_read_', state: 'active' });
  const { rows } = await trpc.audit.list.query({ action: 'api_key.create', limit: 1 });
  expect(rows[0]?.details).toEqual({ name: 'grafana', scope: 'statistics' });
});

test('calls with a read key are logged with its id, and never with the key', async () => {
  const { keyId, apiKey } = await issue('events');
  await list(apiKey);
  await call({ path: 'apiKeys.list', type: 'query' }, {}, apiKey);
  await until(() => dashboard.log().includes(`"keyId":"${keyId}"`));
  expect(dashboard.log()).toMatch(new RegExp(`"FORBIDDEN".*"keyId":"${keyId}"`));
  for (const key of [apiKey, ...keys.values()]) expect(dashboard.log()).not.toContain(key.slice(10));
});
