import { expect, test } from 'vitest';
import { renderBanner } from './banner.ts';

const connection = {
  ingestUrl: 'http://127.0.0.1:1',
  dashboardUrl: 'http://127.0.0.1:2',
  apiKey: 'weir_the-key',
  spaceId: crypto.randomUUID(),
  email: 'owner@weir.local',
  password: 'the-password',
  natsUrl: 'nats://x',
  databaseUrl: 'postgres://x',
};
const signInLink = 'http://127.0.0.1:2/sign-in#link=the-link';
const options = { signInLink, vendor: 'weir', dataDir: '.weir', nowMs: 0 };
const secrets = ['weir_the-key', 'the-password', 'the-link'];

test('a terminal shows the secrets', () => {
  const text = renderBanner(connection, { ...options, isTerminal: true });
  for (const secret of secrets) expect(text).toContain(secret);
});

test('other output has no secrets, but names their file', () => {
  const text = renderBanner(connection, { ...options, isTerminal: false });
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(text).toContain('.weir/connection.json');
});
