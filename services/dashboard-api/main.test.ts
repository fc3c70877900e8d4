import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inheritedEnvironment } from '../../test/support/run/inherited-environment.ts';
import { createDatabase } from '../../test/support/test-servers.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

function start(env: Record<string, string>): ChildProcess & { errors: () => string } {
  const child = fork(main, {
    env: {
      ...inheritedEnvironment(),
      API_KEY_PEPPER: 'pepper-of-the-tests-only',
      ...env,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  return Object.assign(child, { errors: () => text });
}

test('the service reports its address when it listens, and stops in order on SIGTERM', async () => {
  const child = start({ DATABASE_URL: database.url, DASHBOARD_PORT: '0' });
  const [message] = await once(child, 'message');
  expect(message).toMatchObject({ ready: true, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  expect(await (await fetch(`${message.url}/readyz`)).json()).toEqual({ ready: true, waitingFor: [] });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('when the port is in use it exits, and the message names the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  const child = start({ DATABASE_URL: database.url, DASHBOARD_PORT: port });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(child.errors()).toContain('Set DASHBOARD_PORT to another');
  other.close();
});

test('without DATABASE_URL the message names the missing variable', async () => {
  const child = start({});
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(child.errors()).toContain('DATABASE_URL');
});

test('with an https public URL, cookies are Secure and responses have Strict-Transport-Security', async () => {
  const variables = { DATABASE_URL: database.url, DASHBOARD_PORT: '0' };
  const child = start({ ...variables, DASHBOARD_PUBLIC_URL: 'https://weir.example.com' });
  const [{ url }] = await once(child, 'message');
  const signOut = () =>
    fetch(`${url}/trpc/auth.signOut`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
  const answer = await signOut();
  expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
  expect(answer.headers.get('set-cookie')).toMatch(/^__Host-weir_session_.*; Secure$/);
  child.kill('SIGTERM');
  await once(child, 'exit');
  const plain = start({ ...variables, DASHBOARD_PUBLIC_URL: 'http://weir.example.com' });
  const [{ url: plainUrl }] = await once(plain, 'message');
  const plainAnswer = await fetch(`${plainUrl}/healthz`);
  expect(plainAnswer.headers.get('strict-transport-security')).toBeNull();
  plain.kill('SIGTERM');
  await once(plain, 'exit');
});
