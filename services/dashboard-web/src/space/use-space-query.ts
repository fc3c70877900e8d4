import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isTransient, retryMs } from '../api/failure.ts';
import {
  apiQuery,
  callQuery,
  type Input,
  type MutationPath,
  type Output,
  type QueryPath,
  useApiMutation,
} from '../api/query.ts';
import { useInterval } from '../api/use-interval.ts';
import { useSpace } from './space.tsx';

/** The input of a procedure without the space, which is that of the page. */
export type SpaceInput<Path extends string> = Omit<NonNullable<Input<Path>>, 'spaceId'>;

/** While data of another input is loaded, those before it stay. */
export const keepsData = { placeholderData: keepPreviousData } as const;

/**
 * With `keepsData`: the data before stay also when a call fails, which ends the library's placeholder.
 * @param of what the data belong to besides a range of time: those of another filter or space are not kept.
 */
export function useKept<Data>(query: UseQueryResult<Data>, of = ''): UseQueryResult<Data> {
  const { data, dataUpdatedAt, isPlaceholderData } = query;
  const kept = useRef({ data, dataUpdatedAt, of });
  const isOwn = data !== undefined && !isPlaceholderData;
  useEffect(() => {
    if (isOwn) kept.current = { data, dataUpdatedAt, of };
  }, [isOwn, data, dataUpdatedAt, of]);
  if (isOwn || kept.current.data === undefined || kept.current.of !== of) return query;
  // The type of a query says in which states it has data.
  return { ...query, ...kept.current, isPlaceholderData: true } as UseQueryResult<Data>;
}

/** The data of a query whose failure is not shown: none of an earlier range, once its own have failed. */
export function dataBeside<Data>({ data, error, isPlaceholderData }: UseQueryResult<Data>): Data | undefined {
  return error !== null && isPlaceholderData ? undefined : data;
}

/** A query of the page's space. */
export function useSpaceQuery<Path extends QueryPath>(
  path: Path,
  input: SpaceInput<Path>,
  options?: Omit<UseQueryOptions<Output<Path>>, 'queryKey' | 'queryFn'>,
): UseQueryResult<Output<Path>> {
  const { id: spaceId } = useSpace();
  // TypeScript cannot join `Omit` and `spaceId` of a generic input.
  const { queryKey, queryFn } = apiQuery(path, { ...input, spaceId } as Input<Path>);
  const query = useQuery<Output<Path>>({ queryKey, queryFn, ...options } as UseQueryOptions<Output<Path>>);
  const isKept = options?.placeholderData !== undefined;
  const of = isKept ? JSON.stringify({ ...input, spaceId, from: undefined, to: undefined }) : '';
  const kept = useKept(query, of);
  return isKept ? kept : query;
}

/** A change of the page's space: as `useApiMutation`. */
export function useSpaceMutation<Path extends MutationPath>(
  path: Path,
  options?: { reload?: readonly QueryPath[] },
) {
  const { id: spaceId } = useSpace();
  const { mutateAsync, ...mutation } = useApiMutation(path, options);
  const change = (input: SpaceInput<Path>) => mutateAsync({ ...input, spaceId } as Input<Path>);
  return { ...mutation, mutateAsync: change };
}

export type PagedPath = {
  [Path in QueryPath]: Output<Path> extends { nextCursor: unknown } ? Path : never;
}[QueryPath];

export type Pages<Path extends PagedPath> = UseInfiniteQueryResult<InfiniteData<Output<Path>>>;

/**
 * Loads pages of the space. With `isFixed` loaded ones are not loaded again: what is read must not move.
 * `refetch` loads a next page that failed, which also happens when the API is back.
 */
export function usePages<Path extends PagedPath>(
  path: Path,
  input: Omit<SpaceInput<Path>, 'cursor'>,
  { isFixed = false, gcTime }: { isFixed?: boolean; gcTime?: number } = {},
): Pages<Path> {
  const { id: spaceId } = useSpace();
  const pages = useInfiniteQuery({
    queryKey: [path, 'pages', { ...input, spaceId }],
    queryFn: ({ pageParam, signal }) =>
      // Without a cursor the API returns the first page.
      callQuery(
        path,
        { ...input, spaceId, ...(pageParam != null && { cursor: pageParam }) } as Input<Path>,
        signal,
      ),
    initialPageParam: undefined as unknown,
    getNextPageParam: ({ nextCursor }: { nextCursor: unknown }) => nextCursor ?? undefined,
    ...(isFixed && { staleTime: Number.POSITIVE_INFINITY }),
    ...(gcTime !== undefined && { gcTime }),
    // Without the pages that are loaded: one that failed is loaded below.
    refetchInterval: ({ state }) => state.data === undefined && isTransient(state.error) && retryMs,
  }) as Pages<Path>;
  const { isFetchNextPageError, error, fetchNextPage } = pages;
  useInterval(() => void fetchNextPage(), isFetchNextPageError && isTransient(error) ? retryMs : undefined);
  return isFetchNextPageError ? { ...pages, refetch: fetchNextPage as typeof pages.refetch } : pages;
}
