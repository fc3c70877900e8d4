import { expect, test } from 'vitest';
import { hasRole, type Role } from './role.ts';

test('each role includes the roles below it, and none above', () => {
  const ascending: Role[] = ['viewer', 'member', 'admin', 'owner'];
  for (const [rank, role] of ascending.entries()) {
    expect(ascending.map((least) => hasRole(role, least))).toEqual(
      ascending.map((_, least) => least <= rank),
    );
  }
});
