import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agedPart } from '../../../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../../../harness/fixtures/events.ts';
import { insertParts } from '../../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../../harness/fixtures/part.ts';
import { dayOf, monthOf } from '../../../../store/accounts/month.ts';
import { changeSpace } from '../../../../store/accounts/spaces.ts';
import { readUsage } from '../../../../store/accounts/usage.ts';
import { traces } from '../../../../store/db/schema.ts';
import { recordSenders, sendersPerSpaceMax } from '../../../../store/senders.ts';
import {
  addEvents,
  newSpaceMonthlyEvents,
  openClient,
  openDashboard,
  type TestDashboard,
} from '../../../../test/support/dashboard.ts';
import { apiKeysMax } from '../../limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const code = (value: string) => ({ data: { code: value } });

test('an owner sets a retention, and the preview says before what it deletes', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const { trpc } = client;
  const dayMs = 24 * 60 * 60 * 1_000;
  const parts = [
    [100, 3],
    [40, 2],
    [10, 5],
  ].map(([ageDays = 0, count = 0]) => agedPart(spaceId, someEvents(count), ageDays));
  await insertParts(dashboard.database, parts);
  const preview = (retentionDays: number | null) => trpc.spaces.previewRetention.query({ retentionDays });
  expect(await preview(30)).toMatchObject({ effectiveDays: 30, events: 5 });
  expect(await preview(50)).toMatchObject({ effectiveDays: 50, events: 3 });
  expect(await preview(365)).toMatchObject({ events: 0, oldest: null });
  expect(await preview(null)).toEqual({ effectiveDays: null, cutoff: null, events: 0, oldest: null });
  const { oldest, cutoff } = await preview(30);
  expect(Math.round((Date.now() - Date.parse(oldest ?? '')) / dayMs)).toBe(100);
  expect(Math.round((Date.now() - Date.parse(cutoff ?? '')) / dayMs)).toBe(30);

  expect(await trpc.spaces.setRetention.mutate({ retentionDays: 30 })).toMatchObject({ retentionDays: 30 });
  const { rows } = await trpc.audit.list.query();
  expect(rows[0]).toMatchObject({ action: 'space.change', details: { retentionDays: 30 } });
});

test('a text that is no time, and a time in the future, erases nothing and expires no key', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const { trpc } = client;
  await insertParts(dashboard.database, [agedPart(spaceId, someEvents(3), 1)]);
  const [soon, past] = [60_000, -60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  for (const value of ['ticket 4711', 'user-12345', 'run 3000/1', '4711', '2026-02-30', soon ?? '']) {
    const before = { kind: 'before' as const, value };
    await expect(trpc.erasures.preview.query(before), value).rejects.toMatchObject(code('BAD_REQUEST'));
    await expect(trpc.erasures.request.mutate(before), value).rejects.toMatchObject(code('BAD_REQUEST'));
  }
  expect((await trpc.erasures.list.query()).requests).toEqual([]);
  for (const value of [past ?? '', '2025-11-30T12:00:00+05:00', '2025-01-01'])
    await trpc.erasures.preview.query({ kind: 'before', value });

  for (const expiresAt of ['key 4711', '12/31/2999', past ?? ''])
    await expect(trpc.apiKeys.create.mutate({ name: 'k', expiresAt }), expiresAt).rejects.toMatchObject(
      code('BAD_REQUEST'),
    );
  await trpc.apiKeys.create.mutate({ name: 'k', expiresAt: '2999-12-31' });
  const keys = await trpc.apiKeys.list.query();
  expect(keys.map(({ expiresAt }) => expiresAt)).toContain('2999-12-31T00:00:00.000Z');
});

test('counts of senders add up, and new senders beyond the limit share a row', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const { database } = dashboard;
  const counts = { scope: 'lib', version: '1', sdk: 'go', stored: 2, merged: 1, leftOut: 4, refused: 0 };
  await recordSenders(database, spaceId, [{ ...counts, service: 'a' }]);
  await recordSenders(database, spaceId, [{ ...counts, service: 'a', refused: 1, refusal: 'Too large.' }]);
  await recordSenders(database, spaceId, [{ ...counts, service: 'a', sdk: 'python' }]);
  const { trpc } = client;
  expect(await trpc.senders.list.query()).toEqual([
    {
      ...counts,
      service: 'a',
      sdk: 'python',
      stored: 6,
      merged: 3,
      leftOut: 12,
      refused: 1,
      refusal: 'Too large.',
      lastSeenAt: expect.any(String),
    },
  ]);
  const many = Array.from({ length: sendersPerSpaceMax + 10 }, (_, index) => ({
    ...counts,
    service: `s-${index}`,
  }));
  await recordSenders(database, spaceId, many);
  await recordSenders(database, spaceId, many);
  const listed = await trpc.senders.list.query();
  expect(listed).toHaveLength(sendersPerSpaceMax + 1);
  expect(listed.find(({ service }) => service === 'other')).toMatchObject({ scope: '', stored: 2 * 11 * 2 });

  // Senders that were not seen for a long time make room.
  await dashboard.sql`UPDATE senders SET last_seen_at = now() - interval '91 days' WHERE service LIKE 's-1%'`;
  await recordSenders(database, spaceId, [{ ...counts, service: 'new' }]);
  const services = (await trpc.senders.list.query()).map(({ service }) => service);
  expect(services).toContain('new');
  expect(services.filter((service) => service.startsWith('s-1'))).toEqual([]);
  const other = await dashboard.addSpace();
  expect(await other.client.trpc.senders.list.query()).toEqual([]);
});

test('traces with too many spans are listed, the last received first', async () => {
  const { client, spaceId } = await dashboard.addSpace();
  const ids = [10_000, 10_001, 20_000].map((spans) => ({ traceId: randomUUID(), spans }));
  for (const [at, { traceId, spans }] of ids.entries())
    await dashboard.database.insert(traces).values({
      ...{ spaceId, traceId, spans, version: 1, resolvedVersion: 1, hasCalls: true },
      receivedAt: new Date(1_760_000_000_000 + at),
    });
  expect(await client.trpc.senders.largeTraces.query()).toMatchObject([ids[2], ids[1]]);
  for (const { traceId, spans } of ids) {
    await insertParts(dashboard.database, [partOf(spaceId, [llmEvent({ traceId })])]);
    expect((await client.trpc.traces.get.query({ traceId })).hasTooManySpans).toBe(spans > 10_000);
  }
});

test('an owner creates a space with the limit of new spaces, renames it, and switches between both', async () => {
  const first = await dashboard.addSpace();
  const { trpc } = first.client;
  const { spaceId } = await trpc.spaces.create.mutate({ name: 'second' });
  expect((await trpc.spaces.list.query()).map(({ id, role }) => ({ id, role }))).toEqual([
    { id: first.spaceId, role: 'owner' },
    { id: spaceId, role: 'owner' },
  ]);
  await trpc.spaces.rename.mutate({ spaceId, name: ' renamed ' });
  expect(await trpc.spaces.get.query({ spaceId })).toMatchObject({
    id: spaceId,
    name: 'renamed',
    role: 'owner',
    monthlyEventLimit: newSpaceMonthlyEvents,
    plan: null,
    billingState: 'active',
    retentionDays: null,
  });
  await addEvents(dashboard.sql, spaceId, [{}]);
  await expect(trpc.events.list.query()).rejects.toMatchObject(code('BAD_REQUEST'));
  await trpc.spaces.switch.mutate({ spaceId });
  expect((await trpc.me.query()).currentSpaceId).toBe(spaceId);
  expect((await trpc.events.list.query()).events).toHaveLength(1);
  expect((await trpc.events.list.query({ spaceId: first.spaceId })).events).toHaveLength(0);
  // The selection belongs to the session, and ends with the membership.
  const other = openClient(dashboard.url);
  expect(await other.trpc.auth.signIn.mutate(first)).toMatchObject({ currentSpaceId: null });
  await dashboard.sql`DELETE FROM memberships WHERE space_id = ${spaceId}`;
  expect((await trpc.me.query()).currentSpaceId).toBe(first.spaceId);
});

test('a user who owns no space cannot create one, and members cannot change plan and billing', async () => {
  const { client, spaceId } = await dashboard.addSpace({ role: 'admin' });
  await expect(client.trpc.spaces.create.mutate({ name: 'own' })).rejects.toMatchObject(code('FORBIDDEN'));
  const sneaky = { name: 'renamed', monthlyEventLimit: null, billingState: 'active', plan: 'free lunch' };
  await changeSpace(dashboard.database, spaceId, {
    monthlyEventLimit: 7,
    billingState: 'inactive',
    plan: 'team',
  });
  await client.trpc.spaces.rename.mutate(sneaky);
  expect(await client.trpc.spaces.get.query()).toMatchObject({
    name: 'renamed',
    monthlyEventLimit: 7,
    billingState: 'inactive',
    plan: 'team',
  });
});

test.each(['', '  ', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(101)])(
  'a space cannot be named %j',
  async (name) => {
    const { client } = await dashboard.addSpace();
    const { spaces, apiKeys } = client.trpc;
    await expect(spaces.rename.mutate({ name })).rejects.toMatchObject(code('BAD_REQUEST'));
    await expect(apiKeys.create.mutate({ name })).rejects.toMatchObject(code('BAD_REQUEST'));
  },
);

test('usage is forecast from the last days', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const { sql } = dashboard;
  await sql`UPDATE spaces SET created_at = now() - interval '1 year' WHERE id = ${spaceId}`;
  const dayMs = 24 * 60 * 60 * 1_000;
  const day = (ago: number) => dayOf(Date.now() - ago * dayMs);
  const key = '01900000-0000-7000-8000-000000000000';
  for (const ago of [0, 1, 2, 3, 4, 5, 6, 40])
    await sql`INSERT INTO usage_days VALUES (${spaceId}, ${day(ago)}, ${key}, 1000, ${ago})`;
  await sql`INSERT INTO usage_months VALUES (${spaceId}, ${monthOf(Date.now())}, 5000), (${spaceId}, '2020-01', 1)`;
  const usage = await client.trpc.usage.current.query();
  const daysLeft = (Date.parse(usage.resetsAt) - Date.now()) / dayMs;
  // 7,000 events in six to seven days.
  expect(usage.forecast).toBeGreaterThanOrEqual(Math.floor(5_000 + 1_000 * daysLeft));
  expect(usage.forecast).toBeLessThanOrEqual(Math.ceil(5_000 + (7_000 / 6) * daysLeft));
  const daily = await client.trpc.usage.daily.query();
  expect(daily.map((one) => one.day)).toEqual([6, 5, 4, 3, 2, 1, 0].map(day));
  expect(daily[0]).toEqual({ day: day(6), events: 1_000, repeats: 6 });
  expect(await client.trpc.usage.daily.query({ from: day(40), to: day(40) })).toHaveLength(1);
  await expect(client.trpc.usage.daily.query({ from: '2020-01-01' })).rejects.toMatchObject(
    code('BAD_REQUEST'),
  );
  expect((await client.trpc.usage.months.query()).map(({ month }) => month)).toEqual([
    monthOf(Date.now()),
    '2020-01',
  ]);
});

test('every change has an audit row with actor, action, target and address, and without secrets', async () => {
  const { client, email, spaceId } = await dashboard.addSpace();
  const { trpc } = client;
  const { user } = await trpc.me.query();
  const { keyId, apiKey } = await trpc.apiKeys.create.mutate({ name: 'one' });
  const rolled = await trpc.apiKeys.roll.mutate({ keyId });
  await trpc.apiKeys.revoke.mutate({ keyId });
  await trpc.spaces.rename.mutate({ name: 'renamed' });
  const invitation = await trpc.invitations.create.mutate({ email: 'new@example.org', role: 'viewer' });
  const invited = openClient(dashboard.url);
  await invited.trpc.invitations.accept.mutate({ token: invitation.token, password: 'my password' });
  const newUser = (await invited.trpc.me.query()).user.id;
  await invited.trpc.auth.changePassword.mutate({
    currentPassword: 'my password',
    newPassword: 'other password',
  });
  await invited.trpc.auth.signOut.mutate();
  await trpc.members.setRole.mutate({ userId: newUser, role: 'member' });
  await trpc.members.remove.mutate({ userId: newUser });
  const { rows } = await trpc.audit.list.query();
  expect(rows.map(({ action, actor }) => [action, actor]).reverse()).toEqual([
    ['space.create', 'operator'],
    ['member.set', 'operator'],
    ['session.open', user.id],
    ['api_key.create', user.id],
    ['api_key.roll', user.id],
    ['api_key.revoke', user.id],
    ['space.change', user.id],
    ['invitation.create', user.id],
    ['invitation.accept', newUser],
    ['session.open', newUser],
    ['user.password', newUser],
    ['session.close', newUser],
    ['member.set', user.id],
    ['member.remove', user.id],
  ]);
  const revoked = rows.find(({ action }) => action === 'api_key.revoke');
  expect(revoked).toMatchObject({ actorEmail: email, address: '127.0.0.1', target: keyId });
  expect(rows.at(-1)).toMatchObject({ actorEmail: null, address: null });
  // Newest first. The rows name members, invitations and keys; a session has no name.
  const names = new Map(rows.map(({ action, targetName }) => [action, targetName]));
  for (const action of ['member.remove', 'invitation.accept', 'invitation.create', 'user.password'])
    expect([action, names.get(action)]).toEqual([action, 'new@example.org']);
  expect(names.get('api_key.revoke')).toBe('one');
  expect(names.get('session.open')).toBeNull();
  const text = JSON.stringify(rows);
  for (const secret of [apiKey, rolled.apiKey, invitation.token, 'my password', 'other password'])
    expect(text).not.toContain(secret);

  const pages: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await trpc.audit.list.query({ limit: 4, ...(cursor && { cursor }) });
    pages.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  expect(pages).toEqual(rows.map(({ id }) => id));
  expect((await trpc.audit.list.query({ action: 'member.set', actor: user.id })).rows).toHaveLength(1);

  const download = (path: string, cookie = client.cookie ?? '') =>
    fetch(`${dashboard.url}/audit/${path}`, { headers: { cookie } });
  const response = await download(spaceId);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
});

test('the audit log can be downloaded completely, only by admins of the space', async () => {
  const { client, spaceId } = await dashboard.addSpace({ role: 'admin' });
  await dashboard.sql`
    INSERT INTO audit_log (space_id, actor, action, details)
    SELECT ${spaceId}, 'operator', 'test', jsonb_build_object('n', n) FROM generate_series(1, 1203) AS n`;
  const status = async (path: string, cookie = '') =>
    (await fetch(`${dashboard.url}/audit/${path}`, { headers: { cookie } })).status;
  const response = await fetch(`${dashboard.url}/audit/${spaceId}`, {
    headers: { cookie: client.cookie ?? '' },
  });
  const numbers = (await response.text())
    .trimEnd()
    .split('\n')
    .flatMap((line) => JSON.parse(line).details.n ?? []);
  expect(numbers).toEqual(Array.from({ length: 1_203 }, (_, i) => 1_203 - i));
  const other = await dashboard.addSpace();
  expect(await status(spaceId)).toBe(401);
  expect(await status(spaceId, other.client.cookie)).toBe(404);
  expect(await status('nothing', client.cookie)).toBe(404);
  expect(await status(`${spaceId}/more`, client.cookie)).toBe(404);
  await dashboard.sql`UPDATE memberships SET role = 'member' WHERE space_id = ${spaceId}`;
  expect(await status(spaceId, client.cookie)).toBe(403);
});

test('quarantine is listed in pages, and only entries of the own space are replayed', async () => {
  const [own, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const { sql } = dashboard;
  for (const { spaceId } of [own, other]) {
    await sql`
      INSERT INTO quarantine (space_id, received_at, event_count, sqlstate, message, part)
      SELECT ${spaceId}, now(), 1, '23514', 'refused', '\\x00'::bytea FROM generate_series(1, 5)`;
  }
  const { trpc } = own.client;
  const ids: string[] = [];
  let cursor: { quarantinedAt: string; id: string } | null | undefined;
  while (cursor !== null) {
    const page = await trpc.quarantine.list.query({ limit: 2, ...(cursor && { cursor }) });
    for (const entry of page.entries) {
      expect(entry).toMatchObject({ spaceId: own.spaceId, sqlstate: '23514', message: 'refused' });
      expect(entry).not.toHaveProperty('part');
      ids.push(entry.id);
    }
    cursor = page.nextCursor;
  }
  expect(new Set(ids).size).toBe(5);
  const foreign = (await other.client.trpc.quarantine.list.query()).entries.map(({ id }) => id);
  const { replayed, failed } = await trpc.quarantine.replay.mutate({ ids: [...ids, ...foreign] });
  // These parts are invalid, so they fail again. Those of the other space are not read.
  expect(replayed).toEqual([]);
  expect(failed.map(({ id }) => id).sort()).toEqual(ids.sort());
  const [row] = (await trpc.audit.list.query({ action: 'quarantine.replay' })).rows;
  expect(row?.details).toEqual({ entries: 5, ids: expect.arrayContaining(ids) });
});

test('expired and revoked keys do not count towards the limit', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const add = (count: number, ended: { expires_at?: Date; revoked_at?: Date }) =>
    dashboard.sql`INSERT INTO api_keys ${dashboard.sql(
      Array.from({ length: count }, () => ({
        space_id: spaceId,
        name: 'k',
        hash: randomBytes(32),
        last_four: 'xxxx',
        expires_at: null,
        revoked_at: null,
        ...ended,
      })),
    )}`;
  await add(apiKeysMax, { expires_at: new Date(Date.now() - 1_000) });
  await add(apiKeysMax, { revoked_at: new Date() });
  await add(apiKeysMax - 1, { expires_at: new Date(Date.now() + 60_000) });
  await client.trpc.apiKeys.create.mutate({ name: 'last' });
  await expect(client.trpc.apiKeys.create.mutate({ name: 'one more' })).rejects.toMatchObject(
    code('TOO_MANY_REQUESTS'),
  );
});

test('the month of usage ends at midnight UTC, and the forecast uses days of the previous month', async () => {
  const { spaceId } = await dashboard.addSpace();
  const { sql, database } = dashboard;
  await changeSpace(database, spaceId, { monthlyEventLimit: 1_000 });
  await sql`UPDATE spaces SET created_at = '2020-01-01' WHERE id = ${spaceId}`;
  await sql`INSERT INTO usage_months (space_id, month, events) VALUES (${spaceId}, '2026-12', 900)`;
  const keyId = randomUUID();
  for (const day of ['2026-12-26', '2026-12-31']) {
    await sql`
      INSERT INTO usage_days (space_id, day, api_key_id, events, repeats) VALUES (${spaceId}, ${day}, ${keyId}, 70, 0)`;
  }
  expect(await readUsage(database, spaceId, new Date('2026-12-31T23:59:59.999Z'))).toMatchObject({
    month: '2026-12',
    events: 900,
    resetsAt: '2027-01-01T00:00:00.000Z',
    forecast: 900,
    limitReachedAt: null,
  });
  // Six whole days have 140 events, so 31 days have 723.
  expect(await readUsage(database, spaceId, new Date('2027-01-01T00:00:00.000Z'))).toMatchObject({
    month: '2027-01',
    events: 0,
    resetsAt: '2027-02-01T00:00:00.000Z',
    forecast: Math.round((140 / 6) * 31),
    limitReachedAt: null,
  });
});
