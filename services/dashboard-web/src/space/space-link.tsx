import { Link, useNavigate } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { Search } from '../url/search.ts';
import { useSpace } from './space.ts';

/** The pages of a space that others lead to. */
const pages = {
  overview: '/s/$spaceId',
  events: '/s/$spaceId/events',
  event: '/s/$spaceId/events/$eventId',
  thread: '/s/$spaceId/threads/$threadId',
  trace: '/s/$spaceId/traces/$traceId',
  user: '/s/$spaceId/users/$userId',
  compare: '/s/$spaceId/compare',
  alerts: '/s/$spaceId/alerts',
  charts: '/s/$spaceId/charts',
  usage: '/s/$spaceId/usage',
  prices: '/s/$spaceId/settings/prices',
  profile: '/s/$spaceId/profile',
} as const;

export interface SpacePage {
  page: keyof typeof pages;
  /** Of the event, thread, trace or user that the page shows. */
  id?: string;
  search?: Search;
}

function addressOf(spaceId: string, { page, id = '', search = {} }: SpacePage) {
  const params = { spaceId, eventId: id, threadId: id, traceId: id, userId: id };
  return { to: pages[page], params, search };
}

export function SpaceLink({
  page,
  id,
  search,
  ...link
}: SpacePage & {
  className?: string | undefined;
  title?: string;
  'aria-label'?: string;
  onClick?: (click: MouseEvent) => void;
  children: ReactNode;
}) {
  const { id: spaceId } = useSpace();
  return <Link {...addressOf(spaceId, { page, id, search })} {...link} />;
}

export function useOpen(): (page: SpacePage) => void {
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  return (page) => void navigate(addressOf(spaceId, page));
}
