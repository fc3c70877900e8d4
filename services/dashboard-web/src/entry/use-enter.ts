import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Me, meQuery } from '../space/me.ts';

/** Opens a page after signing in, and clears all data of a previous user. */
export function useEnter(): (me: Me | undefined, href: string) => Promise<void> {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async (me, href) => {
    queries.clear();
    if (me !== undefined) queries.setQueryData(meQuery.queryKey, me);
    await navigate({ href });
  };
}
