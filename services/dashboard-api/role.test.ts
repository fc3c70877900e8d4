import { expect, test } from 'vitest';
import { hasRole, type Role } from './role.ts';

test('each role may do what those below it may, and nothing above', () => {
  const ascending: Role[] = ['viewer', 'member', 'admin', 'owner'];
  for (const [rank, role] of ascending.entries()) {
    expect(ascending.map((least) => hasRole(role, least))).toEqual(
      ascending.map((_, least) => least <= rank),
    );
  }
});
