import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, notFound, redirect } from '@tanstack/react-router';
import { formatSearch, parseSearch } from '../url/search.ts';
import { loadEnrolled, loadUser } from './guards.ts';
import { page } from './lazy-page.ts';
import { PageFailure } from './page-failure.tsx';
import { PageLoading } from './page-loading.tsx';
import { PageMissing } from './page-missing.tsx';
import { root } from './root.tsx';
import { spaceRoutes } from './space-routes.ts';

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
  component: page(() => import('../pages/second-factor.tsx'), 'SecondFactorPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: page(() => import('../pages/invitation.tsx'), 'InvitationPage'),
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
  component: page(() => import('../pages/no-space.tsx'), 'NoSpacePage'),
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

const routeTree = root.addChildren([signIn, secondFactor, invitation, home, installation, spaceRoutes]);

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
