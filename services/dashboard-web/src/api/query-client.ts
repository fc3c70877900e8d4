import { QueryClient } from '@tanstack/react-query';
import { isTransient } from './failure.ts';

/** Answers younger than this are shown without a new call, in milliseconds. */
const freshMs = 10_000;
const retriesMax = 2;

export function openQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshMs,
        // A list must not jump because its window was looked at again.
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < retriesMax && isTransient(error),
      },
      mutations: { retry: false },
    },
  });
}
