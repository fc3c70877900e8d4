import type { memberships } from '../../lib/db/schema.ts';

/** What a user may do in a space. */
export type Role = (typeof memberships.$inferSelect)['role'];

const ranks = { viewer: 0, member: 1, admin: 2, owner: 3 } as const satisfies Record<Role, number>;

/** Whether a role allows what `least` allows: each role may do all that those below it may. */
export function hasRole(role: Role, least: Role): boolean {
  return ranks[role] >= ranks[least];
}
