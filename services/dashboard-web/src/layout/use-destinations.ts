import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../api/query.ts';
import { useSettled } from '../api/use-settled.ts';
import { eventQuery } from '../event/event-query.ts';
import { useOffers } from '../search/use-offers.ts';
import { changeSettings } from '../settings/settings.ts';
import { useMe, useSpace } from '../space/space.tsx';
import { parseSearch } from '../url/search.ts';
import { useViews } from '../views/view.ts';
import { type Destination, type DestinationGroup, matchLabels } from './destinations.ts';
import { navigationOf } from './navigation.ts';

/** Found ids first, then pages, spaces and themes. */
export function useDestinations(query: string): { groups: DestinationGroup[]; isLooking: boolean } {
  const space = useSpace();
  const { spaces, user } = useMe();
  const navigate = useNavigate();
  const { found, isLooking } = useFoundIds(query);
  const params = { spaceId: space.id };
  const pages = navigationOf(space.role)
    .flatMap(({ entries }) => entries)
    .map(({ to, label }) => ({ key: to, label, go: () => void navigate({ to, params }) }));
  const otherSpaces = spaces
    .filter(({ id }) => id !== space.id)
    .map(({ id, name }) => ({
      key: id,
      label: name,
      hint: 'space',
      go: () => void navigate({ to: '/s/$spaceId', params: { spaceId: id } }),
    }));
  const themes = (['system', 'light', 'dark'] as const).map((theme) => ({
    key: theme,
    label: theme === 'system' ? 'System' : theme === 'light' ? 'Light' : 'Dark',
    hint: 'theme',
    go: () => changeSettings({ theme }),
  }));
  const profile = {
    key: 'profile',
    label: 'Profile',
    go: () => void navigate({ to: '/s/$spaceId/profile', params }),
  };
  const installation = {
    key: 'installation',
    label: 'Installation',
    go: () => void navigate({ to: '/installation' }),
  };
  const further = user.isOperator ? [profile, installation] : [profile];
  const text = query.trim();
  const payloads = {
    key: 'search',
    label: `Search events for “${text}”`,
    go: () => void navigate({ to: '/s/$spaceId/events', params, search: { text } }),
  };
  const offers = useOffers(text).map(({ field, label, detail }) => ({
    key: label,
    label: `Events whose ${label}`,
    hint: detail,
    go: () => void navigate({ to: '/s/$spaceId/events', params, search: field }),
  }));
  const views = useViews().map(({ id, list, name, address }) => ({
    key: id,
    label: name,
    hint: `view of ${list}`,
    go: () => void navigate({ to: `/s/$spaceId/${list}`, params, search: parseSearch(address) }),
  }));
  const groups = [
    { title: 'Found', items: found },
    { title: 'Filters', items: offers },
    { title: 'Views', items: matchLabels(views, query) },
    { title: 'Pages', items: matchLabels([...pages, ...further], query) },
    { title: 'Spaces', items: matchLabels(otherSpaces, query) },
    { title: 'Theme', items: matchLabels(themes, query) },
    { title: 'Search', items: text === '' || found.length > 0 ? [] : [payloads] },
  ];
  return { groups: groups.filter(({ items }) => items.length > 0), isLooking };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const listed = ['threadId', 'userId', 'agentId'] as const;

/** The event, trace, thread, user or agent whose id is the query. */
export function useFoundIds(query: string): { found: Destination[]; isLooking: boolean } {
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  const id = useSettled(query.trim());
  const isUuid = uuid.test(id);
  const enabled = id.length > 1;
  const one = { spaceId, limit: 1 };
  const lists = useQueries({
    queries: listed.map((field) => ({ ...apiQuery('events.list', { ...one, [field]: id }), enabled })),
  });
  const [event, trace] = useQueries({
    queries: [
      { ...eventQuery(spaceId, id.toLowerCase()), enabled: isUuid, retry: false },
      {
        ...apiQuery('events.list', { ...one, traceId: isUuid ? id.toLowerCase() : undefined }),
        enabled: isUuid,
      },
    ],
  });
  const targets = {
    threadId: {
      hint: 'thread',
      go: () => void navigate({ to: '/s/$spaceId/threads/$threadId', params: { spaceId, threadId: id } }),
    },
    userId: {
      hint: 'user',
      go: () => void navigate({ to: '/s/$spaceId/users/$userId', params: { spaceId, userId: id } }),
    },
    // An agent has no page.
    agentId: {
      hint: 'events of the agent',
      go: () => void navigate({ to: '/s/$spaceId/events', params: { spaceId }, search: { agentId: id } }),
    },
  };
  const found: Destination[] = [];
  if (isUuid && event.data !== undefined) {
    found.push({
      key: 'event',
      label: id,
      hint: 'event',
      go: () =>
        void navigate({ to: '/s/$spaceId/events/$eventId', params: { spaceId, eventId: event.data.id } }),
    });
  }
  if (isUuid && (trace.data?.events.length ?? 0) > 0) {
    found.push({
      key: 'trace',
      label: id,
      hint: 'trace',
      go: () =>
        void navigate({ to: '/s/$spaceId/traces/$traceId', params: { spaceId, traceId: id.toLowerCase() } }),
    });
  }
  for (const [place, field] of listed.entries()) {
    if (enabled && (lists[place]?.data?.events.length ?? 0) > 0)
      found.push({ key: field, label: id, ...targets[field] });
  }
  const isLooking = query.trim() !== id || [...lists, event, trace].some(({ isFetching }) => isFetching);
  return { found, isLooking };
}
