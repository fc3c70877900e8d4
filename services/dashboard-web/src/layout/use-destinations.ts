import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { apiQuery } from '../api/query.ts';
import { useSettled } from '../api/use-settled.ts';
import { eventQuery } from '../event/event-query.ts';
import { formatInCard } from '../format/time.ts';
import { useOffers } from '../search/use-offers.ts';
import { changeSettings, themes } from '../settings/settings.ts';
import { type SpacePage, useMe, useOpen, useSpace } from '../space/space.tsx';
import { parseSearch } from '../url/search.ts';
import { useViews } from '../views/view.ts';
import { type Destination, type DestinationGroup, matchLabels } from './destinations.ts';
import { navigationOf } from './navigation.ts';

/** Found ids first, then pages, spaces and themes. */
export function useDestinations(query: string): { groups: DestinationGroup[]; isLooking: boolean } {
  const open = useOpen();
  const { found, isLooking } = useFoundIds(query);
  const text = query.trim();
  const offers = useOffers(text).map(({ field, label, detail }) => ({
    key: label,
    label: `Events whose ${label}`,
    hint: detail,
    go: () => open({ page: 'events', search: field }),
  }));
  const views = useViews().map(({ id, list, name, address }) => ({
    key: id,
    label: name,
    hint: `view of ${list}`,
    go: () => open({ page: list, search: parseSearch(address) }),
  }));
  const isSearched = text !== '' && found.length === 0;
  const events = useFoundEvents(isSearched ? text : '');
  const payloads = {
    key: 'search',
    label: `Search events for “${text}”`,
    go: () => open({ page: 'events', search: { text } }),
  };
  const groups = [
    { title: 'Found', items: found },
    { title: 'Filters', items: offers },
    { title: 'Views', items: matchLabels(views, query) },
    { title: 'Pages', items: matchLabels(usePageList(), query) },
    { title: 'Spaces', items: matchLabels(useOtherSpaces(), query) },
    { title: 'Theme', items: matchLabels(themeList, query) },
    { title: 'Search', items: isSearched ? [payloads, ...events] : [] },
  ];
  return { groups: groups.filter(({ items }) => items.length > 0), isLooking };
}

function usePageList(): Destination[] {
  const { role } = useSpace();
  const { user } = useMe();
  const open = useOpen();
  const navigate = useNavigate();
  const entries = navigationOf(role).flatMap((group) => group.entries);
  const pages = [...entries, { page: 'profile', label: 'Profile' } as const].map(({ page, label }) => ({
    key: page,
    label,
    go: () => open({ page }),
  }));
  const go = () => void navigate({ to: '/installation' });
  return user.isOperator ? [...pages, { key: 'installation', label: 'Installation', go }] : pages;
}

function useOtherSpaces(): Destination[] {
  const space = useSpace();
  const navigate = useNavigate();
  return useMe()
    .spaces.filter(({ id }) => id !== space.id)
    .map(({ id, name }) => ({
      key: id,
      label: name,
      hint: 'space',
      go: () => void navigate({ to: '/s/$spaceId', params: { spaceId: id } }),
    }));
}

const themeList = themes.map(({ value: theme, label }) => ({
  key: theme,
  label,
  hint: 'theme',
  go: () => changeSettings({ theme }),
}));

/** Shorter texts are in most events. */
const searchedCharsMin = 3;
const searchedCharsMax = 1_000;

/** The newest events that have a text, of those that the API searches in a second. */
function useFoundEvents(query: string): Destination[] {
  const { id: spaceId } = useSpace();
  const open = useOpen();
  const text = useSettled(query);
  const enabled = text.length >= searchedCharsMin && text.length <= searchedCharsMax;
  const search = apiQuery('events.search', { spaceId, payload: text, limit: shownEvents });
  const { data } = useQuery({ ...search, enabled });
  return (data?.events.slice(0, shownEvents) ?? []).map(({ id, name, startTimeMs, excerpt }) => ({
    key: id,
    label: name ?? 'unnamed',
    hint: formatInCard(startTimeMs, Date.now()),
    excerpt,
    go: () => open({ page: 'event', id, search: { text } }),
  }));
}

const shownEvents = 5;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What has a field of events as its id. An agent has no page. */
const listed = {
  threadId: { hint: 'thread', pageOf: (id: string): SpacePage => ({ page: 'thread', id }) },
  userId: { hint: 'user', pageOf: (id: string): SpacePage => ({ page: 'user', id }) },
  agentId: {
    hint: 'events of the agent',
    pageOf: (agentId: string): SpacePage => ({ page: 'events', search: { agentId } }),
  },
};

/** The event, trace, thread, user or agent whose id is the query. */
export function useFoundIds(query: string): { found: Destination[]; isLooking: boolean } {
  const { id: spaceId } = useSpace();
  const open = useOpen();
  const id = useSettled(query.trim());
  const isUuid = uuid.test(id);
  const lower = id.toLowerCase();
  const enabled = id.length > 1;
  const one = { spaceId, limit: 1 };
  const fields = Object.entries(listed);
  const lists = useQueries({
    queries: fields.map(([field]) => ({ ...apiQuery('events.list', { ...one, [field]: id }), enabled })),
  });
  const [event, trace] = useQueries({
    queries: [
      { ...eventQuery(spaceId, lower), enabled: isUuid, retry: false },
      { ...apiQuery('events.list', { ...one, traceId: isUuid ? lower : undefined }), enabled: isUuid },
    ],
  });
  const found: Destination[] = [];
  const push = (key: string, hint: string, page: SpacePage) =>
    found.push({ key, label: id, hint, go: () => open(page) });
  if (isUuid && event.data !== undefined) push('event', 'event', { page: 'event', id: event.data.id });
  if (isUuid && (trace.data?.events.length ?? 0) > 0) push('trace', 'trace', { page: 'trace', id: lower });
  for (const [place, [field, { hint, pageOf }]] of fields.entries()) {
    if (enabled && (lists[place]?.data?.events.length ?? 0) > 0) push(field, hint, pageOf(id));
  }
  const isLooking = query.trim() !== id || [...lists, event, trace].some(({ isFetching }) => isFetching);
  return { found, isLooking };
}
