import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEvents, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const fetchRaw = (path: string, cookie: string | undefined, init: RequestInit = {}) =>
  fetch(`${dashboard.url}/raw/${path}`, { ...init, headers: { cookie: cookie ?? '' } });

test('an event is downloaded byte for byte, as an attachment that browsers do not run', async () => {
  const { spaceId, client } = await dashboard.addSpace({ role: 'viewer' });
  const text = '{"id" : 12345678901234567890,\n "odd":"\\u0000\\ud800 ü€😀<script>", "n":1.0e0}';
  const [, id = ''] = await addEvents(dashboard.sql, spaceId, [{}, { text }]);
  const response = await fetchRaw(`${spaceId.toUpperCase()}/${id}`, client.cookie);
  expect(response.status).toBe(200);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(text));
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="event-${id}.json"`,
    'content-security-policy': expect.stringMatching(/^sandbox;/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  });
  const head = await fetchRaw(`${spaceId}/${id}`, client.cookie, { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
});

test('a user cannot download an event of another space', async () => {
  const [own, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const [id = ''] = await addEvents(dashboard.sql, other.spaceId, [{ text: '{"secret":1}' }]);
  const stranger = await fetchRaw(`${other.spaceId}/${id}`, undefined);
  expect([stranger.status, await stranger.text()]).toEqual([401, 'Sign in first.\n']);
  const answers = await Promise.all(
    [other.spaceId, randomUUID()].map(async (spaceId) => {
      const response = await fetchRaw(`${spaceId}/${id}`, own.client.cookie);
      return [response.status, await response.text()];
    }),
  );
  expect(answers).toEqual([
    [404, 'There is no such space.\n'],
    [404, 'There is no such space.\n'],
  ]);
  expect((await fetchRaw(`${own.spaceId}/${id}`, own.client.cookie)).status).toBe(404);
});

test.each(['', 'x', '%00/%00', `${randomUUID()}`, `${randomUUID()}/x`, `${randomUUID()}/${randomUUID()}/x`])(
  'the path /raw/%s is 404',
  async (path) => {
    const { client } = await dashboard.addSpace();
    expect((await fetchRaw(path, client.cookie)).status).toBe(404);
  },
);

test('an event without its segment is a 500 without internal details', async () => {
  const { spaceId, client } = await dashboard.addSpace();
  const [id = ''] = await addEvents(dashboard.sql, spaceId, [{}]);
  await dashboard.sql`DELETE FROM segments WHERE space_id = ${spaceId}`;
  const response = await fetchRaw(`${spaceId}/${id}`, client.cookie);
  expect([response.status, await response.text()]).toEqual([500, 'An internal error occurred.\n']);
  expect((await fetchRaw(`${spaceId}/${id}`, client.cookie, { method: 'POST' })).status).toBe(405);
});
