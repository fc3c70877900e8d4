import { expect, test } from 'vitest';
import { isApiKey } from '../../lib/accounts/api-key.ts';
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
