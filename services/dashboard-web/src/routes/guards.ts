import type { QueryClient } from '@tanstack/react-query';
import { redirect } from '@tanstack/react-router';
import { describeFailure } from '../api/failure.ts';
import { meQuery } from '../space/me.ts';
import type { Search } from '../url/search.ts';

export interface RouterContext {
  queryClient: QueryClient;
}

/** The signed-in user, or a redirect to the sign-in page that returns to `href`. */
export async function loadUser({ queryClient }: RouterContext, href: string) {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (describeFailure(error).kind !== 'signed-out') throw error;
    throw redirect({ to: '/sign-in', search: backTo(href) });
  }
}

/** The signed-in user, or a redirect to the page where a user adds the second factor that Weir requires. */
export async function loadEnrolled(context: RouterContext, href: string) {
  const me = await loadUser(context, href);
  if (me.user.mustEnrol) throw redirect({ to: '/second-factor', search: backTo(href) });
  return me;
}

function backTo(href: string): Search {
  return href === '/' ? {} : { to: href };
}
