import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import { WithConfirmation } from '../entry/confirmation-dialog.tsx';
import type { Search } from '../url/search.ts';
import type { RouterContext } from './guards.ts';

export const root = createRootRouteWithContext<RouterContext>()({
  // Addresses hold texts only, each page reads its own.
  validateSearch: (search: Search): Search => search,
  component: () => (
    <WithConfirmation>
      <Outlet />
    </WithConfirmation>
  ),
});
