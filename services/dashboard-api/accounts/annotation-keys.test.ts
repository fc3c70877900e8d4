import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isApiKey } from '../../../store/accounts/api-key.ts';
import { issueApiKey, revokeApiKey } from '../../../store/accounts/api-keys.ts';
import {
  addEvents,
  dashboardPepper,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { changesOf } from '../../../test/support/protocols/dashboard-changes.ts';
import { callProcedure, procedures, sampleInput } from '../../../test/support/protocols/procedures.ts';
import { readRows } from '../../../test/support/table-rows.ts';

/** A key that only adds notes, against every procedure of the router and every other door. */

let dashboard: TestDashboard;
let space: TestSpace;
let other: TestSpace;
let eventId: string;
let key: { keyId: string; apiKey: string };
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
  other = await dashboard.addSpace();
  [eventId = ''] = await addEvents(dashboard.sql, space.spaceId, [{ text: '{"a":1}' }]);
  const options = { name: 'feedback', pepper: dashboardPepper, scope: 'annotation' } as const;
  key = await issueApiKey(dashboard.database, space.spaceId, options);
  // Its use is noted once a minute: no later call changes its row.
  await addNotes({ notes: [{ threadId: 'first', label: 'a' }] });
});
afterAll(() => dashboard[Symbol.asyncDispose]());
/** Preparing a change may delete the space, or add a second factor that the calls after it would need. */
afterEach(async () => {
  await dashboard.sql`UPDATE spaces SET delete_at = NULL`;
  await dashboard.sql`DELETE FROM totp_secrets`;
  await dashboard.sql`DELETE FROM passkeys`;
});

const bearer = () => ({ authorization: `Bearer ${key.apiKey}` });
const addNotes = (input: object) =>
  callProcedure(dashboard.url, { path: 'notes.add', type: 'mutation' }, input, bearer());

const refused = procedures.filter(({ path, access }) => path !== 'notes.add' && access !== 'everybody');

test.each(refused.map((procedure) => [procedure.path, procedure] as const))(
  '%s is refused to a key that only adds notes, also with the cookie of an owner',
  async (path, procedure) => {
    const input =
      procedure.type === 'mutation'
        ? (await changesOf(dashboard, space)[path]?.())?.input
        : sampleInput(procedure, { spaceId: undefined, id: eventId, email: 'x@example.org' });
    const before = await readRows(dashboard);
    for (const cookie of [{}, { cookie: space.client.cookie ?? '' }]) {
      const { status, body } = await callProcedure(dashboard.url, procedure, input, {
        ...bearer(),
        ...cookie,
      });
      expect([path, status, body.includes('FORBIDDEN')]).toEqual([path, 403, true]);
    }
    expect(await readRows(dashboard)).toEqual(before);
  },
);

test('every other door is closed to it, and ingest does not know it as a key', async () => {
  const { spaceId } = space;
  const paths = [
    ...[`/raw/${spaceId}/${eventId}`, `/media/${spaceId}/${'m'.repeat(22)}`],
    ...[`/export/${spaceId}?format=csv`, `/audit/${spaceId}`],
  ];
  for (const path of paths) {
    const { status } = await fetch(`${dashboard.url}${path}`, { headers: bearer() });
    expect([path, status]).toEqual([path, 403]);
  }
  const headers = {
    ...bearer(),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect((await fetch(`${dashboard.url}/mcp`, { method: 'POST', headers, body })).status).toBe(403);
  expect([key.apiKey.startsWith('weir_note_'), isApiKey(key.apiKey)]).toEqual([true, false]);
});

test('it adds notes to its own space only, and says who added them', async () => {
  const id = randomUUID();
  const notes = [{ id, eventId, label: 'thumbs-down', value: false }];
  expect((await addNotes({ notes })).status).toBe(200);
  expect((await addNotes({ spaceId: other.spaceId, notes })).status).toBe(404);
  const listed = await space.client.trpc.notes.list.query({ on: [{ eventId }] });
  expect(listed).toMatchObject([{ id, author: 'key', authorId: key.keyId, authorName: 'feedback' }]);
});

test('a revoked key adds nothing', async () => {
  const options = { name: 'gone', pepper: dashboardPepper, scope: 'annotation' } as const;
  const revoked = await issueApiKey(dashboard.database, space.spaceId, options);
  await revokeApiKey(dashboard.database, revoked.keyId);
  const headers = { authorization: `Bearer ${revoked.apiKey}` };
  const input = { notes: [{ eventId, text: 'late' }] };
  const answer = await callProcedure(dashboard.url, { path: 'notes.add', type: 'mutation' }, input, headers);
  expect(answer.status).toBe(401);
});
