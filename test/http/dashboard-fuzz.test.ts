import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDashboard, type TestDashboard, type TestSpace } from '../support/dashboard.ts';
import { anyRequest } from '../support/protocols/dashboard-requests.ts';
import { openSocket } from '../support/protocols/raw-http.ts';

/** A client error is never answered with a 5xx and never logged as an error. */

let dashboard: TestDashboard;
let space: TestSpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
});
afterAll(async () => {
  expect(dashboard.log()).not.toMatch(/"level":[56]0/);
  await dashboard[Symbol.asyncDispose]();
});

/** The statuses of the responses to these bytes; empty when the server closes without a response. */
async function statusesOf(bytes: Buffer): Promise<number[]> {
  const socket = await openSocket(dashboard.url);
  socket.on('error', () => {});
  socket.write(bytes);
  // A live stream does not end, so its first bytes count as the response.
  socket.on('data', (chunk: Buffer) => {
    if (chunk.includes('event: connected')) socket.end();
  });
  const received = await buffer(socket).catch(() => Buffer.alloc(0));
  socket.destroy();
  return [...received.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
    Number(status),
  );
}

test.each([
  ['TRACE /trpc/me', 405, 'TRACE /trpc/me HTTP/1.1\r\nHost: x'],
  ['PUT /readyz', 405, 'PUT /readyz HTTP/1.1\r\nHost: x'],
  ['a Host with a user', 400, 'GET /trpc/me HTTP/1.1\r\nHost: user@x'],
  ['two Hosts', 400, 'GET /trpc/me HTTP/1.1\r\nHost: x\r\nHost: y'],
  ['an unknown path', 404, 'POST /nothing HTTP/1.1\r\nHost: x'],
])('%s is answered with %i', async (_, status, head) => {
  expect(await statusesOf(Buffer.from(`${head}\r\nConnection: close\r\n\r\n`))).toEqual([status]);
});

test('U+0000 is a 400 in an e-mail, and matches nothing in a filter', async () => {
  const { trpc } = space.client;
  const signIn = trpc.auth.signIn.mutate({ email: 'a\0b@c', password: 'x' });
  await expect(signIn).rejects.toMatchObject({ data: { code: 'BAD_REQUEST' } });
  for (const filter of [{ name: '\0' }, { userId: '\0', threadId: 'a\0' }]) {
    expect((await trpc.events.list.query(filter)).events).toEqual([]);
  }
});

test('no generated request is answered with a 5xx', async () => {
  const { host } = new URL(dashboard.url);
  const cookie = space.client.cookie ?? '';
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const statuses = await statusesOf(request.toBytes({ host, cookie }));
      for (const status of statuses) {
        seen.set(status, (seen.get(status) ?? 0) + 1);
        expect(status, dashboard.log().slice(-3_000)).toBeLessThan(500);
      }
    }),
    { seed: 20_261_121, numRuns: 800 },
  );
  // Guards against a generator whose requests all fail the first check.
  for (const status of [200, 400, 401, 404, 405])
    expect([status, seen.get(status) ?? 0]).not.toEqual([status, 0]);
});
