import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { Input, Output, QueryPath } from './paths.ts';
import { callQuery } from './query.ts';

/** Queries that return one page and the cursor of the next. */
export type PagedPath = {
  [Path in QueryPath]: Output<Path> extends { nextCursor: unknown } ? Path : never;
}[QueryPath];

/** The pages of a query that are loaded, and what loads the next one. */
export type Pages<Path extends PagedPath> = UseInfiniteQueryResult<InfiniteData<Output<Path>>>;

/**
 * Loads a query page by page. With `isFixed` loaded pages are not loaded again: what is read must not move.
 */
export function usePages<Path extends PagedPath>(
  path: Path,
  input: Omit<NonNullable<Input<Path>>, 'cursor'>,
  { isFixed = false, gcTime }: { isFixed?: boolean; gcTime?: number } = {},
): Pages<Path> {
  return useInfiniteQuery({
    queryKey: [path, 'pages', input],
    queryFn: ({ pageParam, signal }) =>
      // Without a cursor the API returns the first page; TypeScript cannot join `Omit` and `cursor` of a
      // generic input.
      callQuery(path, { ...input, ...(pageParam != null && { cursor: pageParam }) } as Input<Path>, signal),
    initialPageParam: undefined as unknown,
    getNextPageParam: ({ nextCursor }: { nextCursor: unknown }) => nextCursor ?? undefined,
    ...(isFixed && { staleTime: Number.POSITIVE_INFINITY }),
    ...(gcTime !== undefined && { gcTime }),
  }) as Pages<Path>;
}
