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
import type { ComponentType } from 'react';
import { describeFailure } from '../api/failure.ts';
import { WithConfirmation } from '../entry/confirmation-dialog.tsx';
import { Layout } from '../layout/layout.tsx';
import { useZone } from '../settings/settings.ts';
import { meQuery } from '../space/space.tsx';
import { basePath } from '../url/page-values.ts';
import { formatSearch, parseSearch, type Search } from '../url/search.ts';
import { loadPage, NoSpacePage, PageFailure, PageLoading, PageMissing } from './page-states.tsx';

const root = createRootRouteWithContext<RouterContext>()({
  // Addresses hold texts only, each page reads its own.
  validateSearch: (search: Search): Search => search,
  component: () => (
    <WithConfirmation>
      <Outlet />
    </WithConfirmation>
  ),
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

function lazyPage<Module extends Record<string, unknown>>(
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return lazyRouteComponent(loadPage(async () => inZone((await load())[name] as ComponentType)));
}

/** The page, drawn anew with its state when the zone of times changes, here or in another tab. */
function inZone(Page: ComponentType) {
  return {
    default: () => {
      useZone();
      return <Page />;
    },
  };
}

function spacePage<const Path extends string, Module extends Record<string, unknown>>(
  path: Path,
  load: () => Promise<Module>,
  name: keyof Module & string,
) {
  return createRoute({ getParentRoute: () => space, path, component: lazyPage(load, name) });
}

const spacePages = [
  spacePage('/', () => import('../pages/overview/page.tsx'), 'OverviewPage'),
  spacePage('/events', () => import('../pages/events/page.tsx'), 'EventsPage'),
  spacePage('/events/$eventId', () => import('../pages/event/page.tsx'), 'EventPage'),
  spacePage('/compare', () => import('../pages/compare/page.tsx'), 'ComparePage'),
  spacePage('/traces/$traceId', () => import('../pages/trace/page.tsx'), 'TracePage'),
  spacePage('/threads', () => import('../pages/threads.tsx'), 'ThreadsPage'),
  spacePage('/threads/$threadId', () => import('../pages/thread/page.tsx'), 'ThreadPage'),
  spacePage('/users', () => import('../pages/user.tsx'), 'UsersPage'),
  spacePage('/users/$userId', () => import('../pages/user.tsx'), 'UserPage'),
  spacePage('/live', () => import('../pages/live/page.tsx'), 'LivePage'),
  spacePage('/charts', () => import('../pages/charts/page.tsx'), 'ChartsPage'),
  spacePage('/senders', () => import('../pages/senders/page.tsx'), 'SendersPage'),
  spacePage('/alerts', () => import('../pages/alerts/page.tsx'), 'AlertsPage'),
  spacePage('/usage', () => import('../pages/usage/page.tsx'), 'UsagePage'),
  spacePage('/members', () => import('../pages/members/page.tsx'), 'MembersPage'),
  spacePage('/audit-log', () => import('../pages/audit.tsx'), 'AuditPage'),
  spacePage('/quarantine', () => import('../pages/quarantine.tsx'), 'QuarantinePage'),
  spacePage('/settings/api-keys', () => import('../pages/api-keys/page.tsx'), 'ApiKeysPage'),
  spacePage('/settings/prices', () => import('../pages/prices/page.tsx'), 'PricesPage'),
  spacePage('/settings/space', () => import('../pages/space-settings/page.tsx'), 'SpaceSettingsPage'),
  spacePage('/deleted', () => import('../pages/deleted-space.tsx'), 'DeletedSpacePage'),
  spacePage('/profile', () => import('../pages/profile/page.tsx'), 'ProfilePage'),
] as const;

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('../pages/sign-in/page.tsx'), 'SignInPage'),
});

const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/second-factor',
  beforeLoad: async ({ context }) => {
    const { user } = await loadUser(context, '/');
    if (!user.mustEnrol) throw redirect({ to: '/' });
  },
  component: lazyPage(() => import('../pages/second-factor.tsx'), 'SecondFactorPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyPage(() => import('../pages/invitation.tsx'), 'InvitationPage'),
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
  component: NoSpacePage,
});

const installation = createRoute({
  getParentRoute: () => root,
  path: '/installation',
  beforeLoad: async ({ context, location }) => {
    const { user } = await loadEnrolled(context, location.href);
    if (!user.isOperator) throw notFound();
  },
  component: lazyPage(() => import('../pages/installation/page.tsx'), 'InstallationPage'),
});

const routeTree = root.addChildren([
  space.addChildren(spacePages),
  signIn,
  secondFactor,
  invitation,
  home,
  installation,
]);

/** A slower page shows placeholders. */
const pendingMs = 400;

export function openRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: basePath || '/',
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

export interface RouterContext {
  queryClient: QueryClient;
}

/** The signed-in user, or a redirect to the sign-in page that returns to `href`. */
async function loadUser({ queryClient }: RouterContext, href: string) {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (describeFailure(error).kind !== 'signed-out') throw error;
    throw redirect({ to: '/sign-in', search: backTo(href) });
  }
}

/** The signed-in user, or a redirect to the page where a user adds the second factor that Weir requires. */
async function loadEnrolled(context: RouterContext, href: string) {
  const me = await loadUser(context, href);
  if (me.user.mustEnrol) throw redirect({ to: '/second-factor', search: backTo(href) });
  return me;
}

function backTo(href: string): Search {
  return href === '/' ? {} : { to: href };
}
