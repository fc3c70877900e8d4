import { QueryClient } from '@tanstack/react-query';
import { isTransient } from './failure.ts';

/** Responses younger than this are reused, in milliseconds. */
const freshMs = 10_000;
const retriesMax = 2;

export function openQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshMs,
        // Lists must not change when the window gets the focus.
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < retriesMax && isTransient(error),
      },
      mutations: { retry: false },
    },
  });
}
