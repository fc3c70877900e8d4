import { useNavigate } from '@tanstack/react-router';
import { changeSettings } from '../settings/settings.ts';
import { useMe } from '../space/me.ts';
import { useSpace } from '../space/space.ts';
import { type DestinationGroup, matchLabels } from './destinations.ts';
import { navigationOf } from './navigation.ts';
import { useFoundIds } from './use-found-ids.ts';

/** The palette's entries for a query: found ids first, then pages, spaces and themes. */
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
  const groups = [
    { title: 'Found', items: found },
    { title: 'Pages', items: matchLabels([...pages, ...further], query) },
    { title: 'Spaces', items: matchLabels(otherSpaces, query) },
    { title: 'Theme', items: matchLabels(themes, query) },
  ];
  return { groups: groups.filter(({ items }) => items.length > 0), isLooking };
}
