import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { WithConfirmation } from '../entry/confirmation-dialog.tsx';
import { Layout } from '../layout/layout.tsx';
import { formatSearch, parseSearch, type Search } from '../url/search.ts';
import { loadEnrolled, loadUser, type RouterContext } from './guards.ts';
import { loadPage } from './missing-chunk.ts';
import { PageFailure } from './page-failure.tsx';
import { PageLoading } from './page-loading.tsx';
import { PageMissing } from './page-missing.tsx';

const root = createRootRouteWithContext<RouterContext>()({
  // Addresses hold texts only, each page reads its own.
  validateSearch: (search: Search): Search => search,
  component: () => (
    <WithConfirmation>
      <Outlet />
    </WithConfirmation>
  ),
});

/** A page in a chunk of its own, by the name of its component there. */
function page<Module extends Record<string, unknown>>(
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return lazyRouteComponent(loadPage(load), name);
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: page(() => import('../pages/sign-in/page.tsx'), 'SignInPage'),
});

const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/second-factor',
  beforeLoad: async ({ context }) => {
    const { user } = await loadUser(context, '/');
    if (!user.mustEnrol) throw redirect({ to: '/' });
  },
  component: page(() => import('../pages/second-factor/page.tsx'), 'SecondFactorPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: page(() => import('../pages/invitation/page.tsx'), 'InvitationPage'),
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async ({ context, location }) => {
    const { spaces, user } = await loadEnrolled(context, location.href);
    const space = spaces.find(({ deleteAt }) => deleteAt === null) ?? spaces[0];
    if (space !== undefined) throw redirect({ to: '/s/$spaceId', params: { spaceId: space.id } });
    if (user.isOperator) throw redirect({ to: '/installation' });
  },
  component: page(() => import('../pages/no-space/page.tsx'), 'NoSpacePage'),
});

const installation = createRoute({
  getParentRoute: () => root,
  path: '/installation',
  beforeLoad: async ({ context, location }) => {
    const { user } = await loadEnrolled(context, location.href);
    if (!user.isOperator) throw notFound();
  },
  component: page(() => import('../pages/installation/page.tsx'), 'InstallationPage'),
});

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
  component: page(() => import('../pages/threads/page.tsx'), 'ThreadsPage'),
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
  component: page(() => import('../pages/deleted-space/page.tsx'), 'DeletedSpacePage'),
});
const user = createRoute({
  getParentRoute: () => space,
  path: '/users/$userId',
  component: page(() => import('../pages/user/page.tsx'), 'UserPage'),
});
const users = createRoute({
  getParentRoute: () => space,
  path: '/users',
  component: page(() => import('../pages/users/page.tsx'), 'UsersPage'),
});
const senders = createRoute({
  getParentRoute: () => space,
  path: '/senders',
  component: page(() => import('../pages/senders/page.tsx'), 'SendersPage'),
});
const audit = createRoute({
  getParentRoute: () => space,
  path: '/audit-log',
  component: page(() => import('../pages/audit/page.tsx'), 'AuditPage'),
});
const quarantine = createRoute({
  getParentRoute: () => space,
  path: '/quarantine',
  component: page(() => import('../pages/quarantine/page.tsx'), 'QuarantinePage'),
});
const profile = createRoute({
  getParentRoute: () => space,
  path: '/profile',
  component: page(() => import('../pages/profile/page.tsx'), 'ProfilePage'),
});

const routeTree = root.addChildren([
  signIn,
  secondFactor,
  invitation,
  home,
  installation,
  space.addChildren([
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
  ]),
]);

/** A page that takes longer to load shows placeholders, in milliseconds. */
const pendingMs = 400;

export function openRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch: formatSearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: false,
    defaultPendingComponent: PageLoading,
    defaultPendingMs: pendingMs,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: PageMissing,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>;
  }
}
