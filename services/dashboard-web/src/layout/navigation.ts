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
import { hasRole, type Role, type SpacePage } from '../space/space.tsx';

export interface NavigationEntry {
  page: SpacePage['page'];
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
      { page: 'overview', label: 'Overview', icon: LayoutDashboard, key: 'o' },
      { page: 'events', label: 'Events', icon: List, key: 'e' },
      { page: 'threads', label: 'Threads', icon: MessagesSquare, key: 't' },
      { page: 'users', label: 'Users', icon: UserRound, key: 's' },
      { page: 'live', label: 'Live', icon: Radio, key: 'l' },
      { page: 'charts', label: 'Charts', icon: ChartSpline, key: 'c' },
      { page: 'senders', label: 'Senders', icon: Antenna, key: 'n' },
      { page: 'alerts', label: 'Alerts', icon: Bell, key: 'b' },
    ],
  },
  {
    title: 'Settings',
    entries: [
      { page: 'keys', label: 'API keys', icon: KeyRound, key: 'k', least: 'admin' },
      { page: 'usage', label: 'Usage & plan', icon: Gauge, key: 'u' },
      { page: 'prices', label: 'Prices', icon: CircleDollarSign, key: 'p' },
      { page: 'members', label: 'Members', icon: Users, key: 'm', least: 'member' },
      { page: 'audit', label: 'Audit log', icon: ScrollText, key: 'a', least: 'admin' },
      { page: 'quarantine', label: 'Quarantine', icon: ShieldAlert, key: 'q', least: 'admin' },
      { page: 'settings', label: 'Space settings', icon: Settings, key: 'w', least: 'admin' },
    ],
  },
];

export function navigationOf(role: Role): NavigationGroup[] {
  return navigation.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ least = 'viewer' }) => hasRole(role, least)),
  }));
}
