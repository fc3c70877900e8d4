import { createRoute, notFound, redirect } from '@tanstack/react-router';
import { Layout } from '../layout/layout.tsx';
import { loadEnrolled } from './guards.ts';
import { page } from './lazy-page.ts';
import { root } from './root.tsx';

const space = createRoute({
  getParentRoute: () => root,
  path: '/s/$spaceId',
  beforeLoad: async ({ context, location, params }) => {
    const { spaces } = await loadEnrolled(context, location.href);
    const own = spaces.find(({ id }) => id === params.spaceId);
    if (own === undefined) throw notFound();
    // Of a space that is marked as deleted there is one page.
    const page = location.pathname.split('/')[3] ?? '';
    if (own.deleteAt !== null && page !== 'deleted' && page !== 'profile')
      throw redirect({ to: '/s/$spaceId/deleted', params });
    if (own.deleteAt === null && page === 'deleted') throw redirect({ to: '/s/$spaceId', params });
  },
  component: Layout,
});

const overview = createRoute({
  getParentRoute: () => space,
  path: '/',
  component: page(() => import('../pages/overview/page.tsx'), 'OverviewPage'),
});
const events = createRoute({
  getParentRoute: () => space,
  path: '/events',
  component: page(() => import('../pages/events/page.tsx'), 'EventsPage'),
});
const event = createRoute({
  getParentRoute: () => space,
  path: '/events/$eventId',
  component: page(() => import('../pages/event/page.tsx'), 'EventPage'),
});
const compare = createRoute({
  getParentRoute: () => space,
  path: '/compare',
  component: page(() => import('../pages/compare/page.tsx'), 'ComparePage'),
});
const charts = createRoute({
  getParentRoute: () => space,
  path: '/charts',
  component: page(() => import('../pages/charts/page.tsx'), 'ChartsPage'),
});
const usage = createRoute({
  getParentRoute: () => space,
  path: '/usage',
  component: page(() => import('../pages/usage/page.tsx'), 'UsagePage'),
});
const trace = createRoute({
  getParentRoute: () => space,
  path: '/traces/$traceId',
  component: page(() => import('../pages/trace/page.tsx'), 'TracePage'),
});
const threads = createRoute({
  getParentRoute: () => space,
  path: '/threads',
  component: page(() => import('../pages/threads.tsx'), 'ThreadsPage'),
});
const thread = createRoute({
  getParentRoute: () => space,
  path: '/threads/$threadId',
  component: page(() => import('../pages/thread/page.tsx'), 'ThreadPage'),
});
const live = createRoute({
  getParentRoute: () => space,
  path: '/live',
  component: page(() => import('../pages/live/page.tsx'), 'LivePage'),
});
const members = createRoute({
  getParentRoute: () => space,
  path: '/members',
  component: page(() => import('../pages/members/page.tsx'), 'MembersPage'),
});
const apiKeys = createRoute({
  getParentRoute: () => space,
  path: '/settings/api-keys',
  component: page(() => import('../pages/api-keys/page.tsx'), 'ApiKeysPage'),
});
const prices = createRoute({
  getParentRoute: () => space,
  path: '/settings/prices',
  component: page(() => import('../pages/prices/page.tsx'), 'PricesPage'),
});
const alerts = createRoute({
  getParentRoute: () => space,
  path: '/alerts',
  component: page(() => import('../pages/alerts/page.tsx'), 'AlertsPage'),
});
const spaceSettings = createRoute({
  getParentRoute: () => space,
  path: '/settings/space',
  component: page(() => import('../pages/space-settings/page.tsx'), 'SpaceSettingsPage'),
});
const deletedSpace = createRoute({
  getParentRoute: () => space,
  path: '/deleted',
  component: page(() => import('../pages/deleted-space.tsx'), 'DeletedSpacePage'),
});
const user = createRoute({
  getParentRoute: () => space,
  path: '/users/$userId',
  component: page(() => import('../pages/user.tsx'), 'UserPage'),
});
const users = createRoute({
  getParentRoute: () => space,
  path: '/users',
  component: page(() => import('../pages/users.tsx'), 'UsersPage'),
});
const senders = createRoute({
  getParentRoute: () => space,
  path: '/senders',
  component: page(() => import('../pages/senders/page.tsx'), 'SendersPage'),
});
const audit = createRoute({
  getParentRoute: () => space,
  path: '/audit-log',
  component: page(() => import('../pages/audit.tsx'), 'AuditPage'),
});
const quarantine = createRoute({
  getParentRoute: () => space,
  path: '/quarantine',
  component: page(() => import('../pages/quarantine.tsx'), 'QuarantinePage'),
});
const profile = createRoute({
  getParentRoute: () => space,
  path: '/profile',
  component: page(() => import('../pages/profile/page.tsx'), 'ProfilePage'),
});

/** The pages of a space. */
export const spaceRoutes = space.addChildren([
  overview,
  events,
  event,
  compare,
  trace,
  threads,
  thread,
  user,
  users,
  live,
  charts,
  usage,
  apiKeys,
  prices,
  members,
  senders,
  audit,
  quarantine,
  spaceSettings,
  deletedSpace,
  alerts,
  profile,
]);
