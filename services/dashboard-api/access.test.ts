import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { setRole } from '../../store/accounts/memberships.ts';
import { hasRole, type Role, roles } from '../../store/accounts/role.ts';
import { changeSpace } from '../../store/accounts/spaces.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../test/support/dashboard.ts';
import {
  callProcedure,
  type Outcome,
  type Procedure,
  procedures,
  sampleInput,
} from '../../test/support/protocols/procedures.ts';
import { readRows } from '../../test/support/table-rows.ts';

/**
 * Calls every procedure of the router as users without access. The inputs are generated from the procedures'
 * schemas, so new procedures are tested automatically.
 */

const canary = `canary-${randomUUID()}`;

let dashboard: TestDashboard;
let victim: TestSpace;
let intruder: TestSpace;
/** Members of the victim's space with each role. */
const members = new Map<Role, TestSpace>();
/** Ids that an intruder may know: of events, traces, keys, invitations, users, sessions. */
let ids: string[];

beforeAll(async () => {
  dashboard = await openDashboard();
  victim = await dashboard.addSpace();
  intruder = await dashboard.addSpace();
  const { spaceId } = victim;
  for (const role of roles) {
    const member = await dashboard.addSpace();
    const { user } = await member.client.trpc.me.query();
    await dashboard.sql`DELETE FROM memberships WHERE user_id = ${user.id}`;
    await setRole(dashboard.database, spaceId, { userId: user.id, role });
    members.set(role, member);
  }
  await changeSpace(dashboard.database, spaceId, { name: canary });
  const traceId = randomUUID();
  const eventIds = await addEvents(dashboard.sql, spaceId, [
    { traceId, name: canary, inputPreview: canary, threadId: canary, text: `{"secret":"${canary}"}` },
  ]);
  const { keyId } = await issueApiKey(dashboard.database, spaceId, { name: canary, pepper: 'p'.repeat(16) });
  const { trpc } = victim.client;
  const { id: invitationId } = await trpc.invitations.create.mutate({
    email: `${canary}@example.org`,
    role: 'viewer',
  });
  const { user } = await trpc.me.query();
  const sessions = await trpc.sessions.list.query();
  ids = [...eventIds, traceId, keyId, invitationId, user.id, ...sessions.map(({ id }) => id)];
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Every row that belongs to the victim, without session columns that mere use changes. */
async function victimRows(): Promise<string[]> {
  const marks = [victim.spaceId, victim.email, ...ids];
  return (await readRows(dashboard)).filter(
    (row) => marks.some((mark) => row.includes(mark)) && !row.includes(intruder.spaceId),
  );
}

/** Calls a procedure repeatedly with the ids of the victim. */
async function attack(
  procedure: Procedure,
  spaceId: string | undefined,
  headers: Record<string, string> = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const inputs = new Set(
    ids.map((id) => JSON.stringify(sampleInput(procedure, { spaceId, id, email: victim.email }))),
  );
  for (const input of inputs)
    outcomes.push(await callProcedure(dashboard.url, procedure, JSON.parse(input), headers));
  return outcomes;
}

const as = ({ client }: TestSpace) => ({ cookie: client.cookie ?? '' });

/** Expects neither content of the victim's space nor an id that was not in the call. */
function expectNothingSeen(outcomes: readonly Outcome[]): void {
  for (const { body } of outcomes) expect(body).not.toMatch(new RegExp(`${canary}|${victim.email}`));
}

const isScoped = ({ access }: Procedure) => roles.some((role) => role === access);
const scoped = procedures.filter(isScoped).map((procedure) => [procedure.path, procedure] as const);
const all = procedures.map((procedure) => [procedure.path, procedure] as const);
const signedIn = all.filter(([, { access }]) => access !== 'everybody');
const mutations = all.filter(([, { type }]) => type === 'mutation');
/** Excluded: it ends the session that the other tests need, and affects nothing of the victim's. */
const endsOwnSession = ['auth.signOut'];

test('every procedure declares who may call it', () => {
  expect(procedures.length).toBeGreaterThan(15);
  expect(procedures.filter(({ access }) => access === undefined)).toEqual([]);
  expect(scoped.length).toBeGreaterThan(8);
});

test('the same calls as a member return the data that the attacks look for', async () => {
  const seen: string[] = [];
  for (const [path, procedure] of scoped) {
    if (procedure.type !== 'query') continue;
    const outcomes = await attack(procedure, victim.spaceId, as(victim));
    // The generated input is good enough to pass the type checks.
    expect([path, outcomes.some(({ status }) => status === 200 || status === 404)]).toEqual([path, true]);
    if (outcomes.some(({ body }) => body.includes(canary) || body.includes(victim.email))) seen.push(path);
  }
  expect(seen).toEqual(
    expect.arrayContaining(['events.list', 'events.get', 'members.list', 'invitations.list']),
  );
});

test.each(signedIn)('%s returns nothing without a session', async (_path, procedure) => {
  const before = await victimRows();
  const outcomes = await attack(procedure, victim.spaceId);
  for (const { status } of outcomes) expect(status).toBe(401);
  expectNothingSeen(outcomes);
  expect(await victimRows()).toEqual(before);
});

test.each(scoped)('%s answers for another space as for one that does not exist', async (_path, procedure) => {
  const before = await victimRows();
  const [there, upper, nowhere] = [
    await attack(procedure, victim.spaceId, as(intruder)),
    await attack(procedure, victim.spaceId.toUpperCase(), as(intruder)),
    await attack(procedure, randomUUID(), as(intruder)),
  ];
  for (const { status } of there) expect(status).toBe(404);
  expect(upper.map(({ status }) => status)).toEqual(there.map(({ status }) => status));
  if (procedure.type !== 'subscription') {
    expect(upper).toEqual(there);
    expect(nowhere).toEqual(there);
  }
  expectNothingSeen(there);
  expect(await victimRows()).toEqual(before);
});

test.each(all.filter(([path]) => !endsOwnSession.includes(path)))(
  '%s changes nothing in another space, even with its ids',
  async (_path, procedure) => {
    const before = await victimRows();
    const outcomes = await attack(procedure, undefined, as(intruder));
    for (const { status } of outcomes) expect(status).toBeLessThan(500);
    expectNothingSeen(outcomes);
    expect(await victimRows()).toEqual(before);
  },
);

test.each(scoped)('%s is forbidden to each role below the required one', async (_path, procedure) => {
  const before = await victimRows();
  for (const role of roles) {
    if (hasRole(role, procedure.access as Role)) continue;
    const outcomes = await attack(procedure, victim.spaceId, as(members.get(role) ?? intruder));
    for (const { status } of outcomes) expect([role, status]).toEqual([role, 403]);
    expectNothingSeen(outcomes);
  }
  expect(await victimRows()).toEqual(before);
});

test.each(all.filter(([path]) => !endsOwnSession.includes(path)))(
  '%s changes nothing for a viewer',
  async (_path, procedure) => {
    const before = await victimRows();
    const outcomes = await attack(procedure, victim.spaceId, as(members.get('viewer') ?? intruder));
    for (const { status } of outcomes) expect(status).toBeLessThan(500);
    expect(await victimRows()).toEqual(before);
  },
);

test.each(mutations)('%s is refused to pages of other sites, also in a batch', async (path, procedure) => {
  const before = await victimRows();
  const foreign = [
    { origin: 'http://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: dashboard.url },
  ];
  for (const headers of foreign) {
    const sent = { ...as(victim), ...headers };
    for (const { status } of await attack(procedure, victim.spaceId, sent)) expect(status).toBe(403);
    const input = sampleInput(procedure, { spaceId: victim.spaceId, id: ids[0] ?? '', email: victim.email });
    const batch = await callProcedure(
      dashboard.url,
      { path: `${path},${path}?batch=1`, type: 'mutation' },
      { 0: input, 1: input },
      sent,
    );
    expect(batch.status).toBe(403);
  }
  expect(await victimRows()).toEqual(before);
});

test.each(mutations)('%s cannot be called with GET', async (_path, procedure) => {
  const before = await victimRows();
  const input = sampleInput(procedure, { spaceId: victim.spaceId, id: ids[0] ?? '', email: victim.email });
  const { status } = await callProcedure(dashboard.url, { ...procedure, type: 'query' }, input, as(victim));
  expect(status).toBe(405);
  expect(await victimRows()).toEqual(before);
});

test('every procedure and download of a space is refused while the space is marked as deleted, except to restore it', async () => {
  const deleted = await dashboard.addSpace();
  const { spaceId } = deleted;
  const { name } = (await deleted.client.trpc.spaces.get.query({ spaceId })) ?? {};
  await deleted.client.trpc.spaces.delete.mutate({ spaceId, name });
  const open = scoped.filter(([, { isOfDeleted }]) => isOfDeleted === true).map(([path]) => path);
  expect(open).toEqual(['spaces.restore', 'spaces.switch']);
  for (const [path, procedure] of scoped) {
    if (procedure.isOfDeleted === true) continue;
    const input = sampleInput(procedure, { spaceId, id: randomUUID(), email: deleted.email });
    const { status, body } = await callProcedure(dashboard.url, procedure, input, as(deleted));
    expect([path, status, body]).toEqual([path, 403, expect.stringContaining('will be deleted at')]);
  }
  for (const path of [`export/${spaceId}?format=ndjson`, `audit/${spaceId}?format=csv`]) {
    const { status } = await fetch(`${dashboard.url}/${path}`, { headers: as(deleted) });
    expect([path, status]).toEqual([path, 403]);
  }
});
