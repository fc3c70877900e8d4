import type { Space } from './space.ts';

export type Role = Space['role'];

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

export const roles = Object.keys(ranks) as readonly Role[];

/** Whether a role includes another. The API enforces roles; pages only hide what it would reject. */
export function hasRole(role: Role, least: Role): boolean {
  return ranks[role] >= ranks[least];
}

export const roleTexts: Record<Role, string> = {
  viewer: 'Read events and usage',
  member: 'Also see the members',
  admin: 'Also manage members and API keys',
  owner: 'All permissions',
};
