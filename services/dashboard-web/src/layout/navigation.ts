import {
  Antenna,
  Bell,
  ChartSpline,
  CircleDollarSign,
  Gauge,
  KeyRound,
  LayoutDashboard,
  List,
  type LucideIcon,
  MessagesSquare,
  Radio,
  ScrollText,
  Settings,
  ShieldAlert,
  UserRound,
  Users,
} from 'lucide-react';
import { hasRole, type Role } from '../space/space.tsx';

export interface NavigationEntry {
  to:
    | '/s/$spaceId'
    | '/s/$spaceId/events'
    | '/s/$spaceId/alerts'
    | '/s/$spaceId/charts'
    | '/s/$spaceId/threads'
    | '/s/$spaceId/users'
    | '/s/$spaceId/live'
    | '/s/$spaceId/senders'
    | '/s/$spaceId/usage'
    | '/s/$spaceId/settings/api-keys'
    | '/s/$spaceId/settings/prices'
    | '/s/$spaceId/settings/space'
    | '/s/$spaceId/members'
    | '/s/$spaceId/audit-log'
    | '/s/$spaceId/quarantine';
  label: string;
  icon: LucideIcon;
  /** The second key after `g`. */
  key: string;
  /** Shown to this role and those above it. */
  least?: Role;
}

export interface NavigationGroup {
  title: string;
  entries: readonly NavigationEntry[];
}

const navigation: readonly NavigationGroup[] = [
  {
    title: 'Observe',
    entries: [
      { to: '/s/$spaceId', label: 'Overview', icon: LayoutDashboard, key: 'o' },
      { to: '/s/$spaceId/events', label: 'Events', icon: List, key: 'e' },
      { to: '/s/$spaceId/threads', label: 'Threads', icon: MessagesSquare, key: 't' },
      { to: '/s/$spaceId/users', label: 'Users', icon: UserRound, key: 's' },
      { to: '/s/$spaceId/live', label: 'Live', icon: Radio, key: 'l' },
      { to: '/s/$spaceId/charts', label: 'Charts', icon: ChartSpline, key: 'c' },
      { to: '/s/$spaceId/senders', label: 'Senders', icon: Antenna, key: 'n' },

      { to: '/s/$spaceId/alerts', label: 'Alerts', icon: Bell, key: 'b' },
    ],
  },
  {
    title: 'Settings',
    entries: [
      { to: '/s/$spaceId/settings/api-keys', label: 'API keys', icon: KeyRound, key: 'k', least: 'admin' },
      { to: '/s/$spaceId/usage', label: 'Usage & plan', icon: Gauge, key: 'u' },
      { to: '/s/$spaceId/settings/prices', label: 'Prices', icon: CircleDollarSign, key: 'p' },
      { to: '/s/$spaceId/members', label: 'Members', icon: Users, key: 'm', least: 'member' },
      { to: '/s/$spaceId/audit-log', label: 'Audit log', icon: ScrollText, key: 'a', least: 'admin' },
      { to: '/s/$spaceId/quarantine', label: 'Quarantine', icon: ShieldAlert, key: 'q', least: 'admin' },
      { to: '/s/$spaceId/settings/space', label: 'Space settings', icon: Settings, key: 'w', least: 'admin' },
    ],
  },
];

export function navigationOf(role: Role): NavigationGroup[] {
  return navigation.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ least = 'viewer' }) => hasRole(role, least)),
  }));
}
