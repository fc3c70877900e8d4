import { memberships } from '../db/schema.ts';

export type Role = (typeof memberships.$inferSelect)['role'];

/** Every role, from the highest to the lowest. */
export const roles: readonly Role[] = memberships.role.enumValues;

const ranks = { viewer: 0, member: 1, admin: 2, owner: 3 } as const satisfies Record<Role, number>;

/** Whether a role is at least `least`: each role includes those below it. */
export function hasRole(role: Role, least: Role): boolean {
  return ranks[role] >= ranks[least];
}
