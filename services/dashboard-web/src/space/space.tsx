import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';
import { apiQuery, type Output } from '../api/query.ts';
import { ShownText } from '../text/shown-text.tsx';
import { type ButtonLook, buttonClasses } from '../ui/button.tsx';
import type { Search } from '../url/search.ts';

export type Me = Output<'me'>;

export const meQuery = { ...apiQuery('me', undefined), staleTime: 60_000 };

/** Only for components below a route that has loaded `meQuery`. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

export type Space = Me['spaces'][number];

/** The user was removed from the space whose page is open. */
export class SpaceGone extends Error {}

/** @throws SpaceGone */
export function useSpace(): Space {
  const { spaceId } = useParams({ strict: false });
  const space = useMe().spaces.find(({ id }) => id === spaceId);
  if (space === undefined) throw new SpaceGone();
  return space;
}

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

/** The pages of a space, and their addresses. */
export const spacePages = {
  overview: '/s/$spaceId',
  events: '/s/$spaceId/events',
  event: '/s/$spaceId/events/$eventId',
  thread: '/s/$spaceId/threads/$threadId',
  trace: '/s/$spaceId/traces/$traceId',
  user: '/s/$spaceId/users/$userId',
  threads: '/s/$spaceId/threads',
  users: '/s/$spaceId/users',
  live: '/s/$spaceId/live',
  senders: '/s/$spaceId/senders',
  compare: '/s/$spaceId/compare',
  alerts: '/s/$spaceId/alerts',
  charts: '/s/$spaceId/charts',
  usage: '/s/$spaceId/usage',
  prices: '/s/$spaceId/settings/prices',
  settings: '/s/$spaceId/settings/space',
  keys: '/s/$spaceId/settings/api-keys',
  members: '/s/$spaceId/members',
  audit: '/s/$spaceId/audit-log',
  quarantine: '/s/$spaceId/quarantine',
  profile: '/s/$spaceId/profile',
} as const;

export interface SpacePage {
  page: keyof typeof spacePages;
  /** The id of the event, thread, trace or user that the page shows. */
  id?: string;
  search?: Search;
}

function addressOf(spaceId: string, { page, id = '', search = {} }: SpacePage) {
  const params = { spaceId, eventId: id, threadId: id, traceId: id, userId: id };
  return { to: spacePages[page], params, search };
}

interface SpaceLinkProps extends SpacePage {
  className?: string | undefined;
  title?: string;
  'aria-label'?: string;
  onClick?: (click: MouseEvent) => void;
  /** A text of a client; otherwise `children`. */
  text?: string;
  children?: ReactNode;
}

export function SpaceLink({ page, id, search, text, children, ...link }: SpaceLinkProps) {
  const { id: spaceId } = useSpace();
  return (
    <Link {...addressOf(spaceId, { page, id, search })} {...link}>
      {text === undefined ? children : <ShownText text={text} />}
    </Link>
  );
}

interface SpaceButtonProps extends Omit<SpaceLinkProps, 'className' | 'children' | 'text'> {
  look?: ButtonLook;
  size?: 'small' | 'normal';
  icon?: LucideIcon;
  text: string;
}

/** A link that looks like a button. */
export function SpaceButton({ look, size, icon: Icon, text, ...link }: SpaceButtonProps) {
  return (
    <SpaceLink {...link} className={buttonClasses(look, size)}>
      {Icon && <Icon aria-hidden />}
      {text}
    </SpaceLink>
  );
}

export function useOpen(): (page: SpacePage) => void {
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  return (page) => void navigate(addressOf(spaceId, page));
}
