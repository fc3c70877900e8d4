import { useSuspenseQuery } from '@tanstack/react-query';
import type { Output } from '../api/paths.ts';
import { apiQuery } from '../api/query.ts';

export type Me = Output<'me'>;

/** The user who is signed in, with all spaces. */
export const meQuery = { ...apiQuery('me', undefined), staleTime: 60_000 };

/** Only for components below a route that has loaded `meQuery`. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}
