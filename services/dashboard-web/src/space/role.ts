import type { Space } from './space.ts';

export type Role = Space['role'];

const ranks: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

export const roles = Object.keys(ranks) as readonly Role[];

/** Whether a role includes another. The API decides; pages only hide what it would refuse. */
export function hasRole(role: Role, least: Role): boolean {
  return ranks[role] >= ranks[least];
}

export const roleTexts: Record<Role, string> = {
  viewer: 'Reads events and usage',
  member: 'Also sees the other members',
  admin: 'Also manages members and API keys',
  owner: 'Everything',
};
