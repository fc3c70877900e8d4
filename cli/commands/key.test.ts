import { expect, test } from 'vitest';
import { isAnnotationKey, isApiKey, isCallerKey } from '../../store/accounts/api-key.ts';
import { Operator } from '../../test/support/cli/operator.ts';

const operator = new Operator();

test('a key is created, listed without its secret, and revoked', async () => {
  const spaceId = await operator.createSpace();
  const created = await operator.weir('key', 'create', '--space', spaceId, '--name', 'agent');
  expect(Object.keys(created)).toEqual(['keyId', 'apiKey']);
  expect(isApiKey(created.apiKey)).toBe(true);
  const [listed] = await operator.weir('key', 'list', '--space', spaceId);
  expect(listed).toMatchObject({ keyId: created.keyId, spaceId, name: 'agent', revokedAt: null });
  expect(JSON.stringify(listed)).not.toContain(created.apiKey);
  const revoked = await operator.weir('key', 'revoke', created.keyId);
  expect(revoked.revokedAt).toMatch(/Z$/);
  expect(await operator.weir('key', 'revoke', created.keyId)).toEqual(revoked);
});

test('a read key is created with its scope and its expiry', async () => {
  const spaceId = await operator.createSpace();
  const expires = new Date(Date.now() + 60_000).toISOString();
  const plain = await operator.weir('key', 'create', '--space', spaceId, '--read');
  const scoped = await operator.weir(
    ...['key', 'create', '--space', spaceId, '--read', 'statistics', '--expires', expires],
  );
  const annotation = await operator.weir('key', 'create', '--space', spaceId, '--annotate');
  const keys = [plain, scoped, annotation].map(({ apiKey }) => apiKey);
  expect([...keys.map(isCallerKey), isAnnotationKey(annotation.apiKey)]).toEqual([true, true, true, true]);
  const listed = await operator.weir('key', 'list', '--space', spaceId);
  expect(listed).toMatchObject([
    { scope: 'events', expiresAt: null },
    { scope: 'statistics', expiresAt: expires },
    { scope: 'annotation', expiresAt: null },
  ]);
});
