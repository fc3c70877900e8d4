import { TRPCClientError } from '@trpc/client';

export interface Failure {
  kind: 'signed-out' | 'forbidden' | 'missing' | 'rejected' | 'unavailable' | 'broken';
  message: string;
}

/** A failure in the browser, without a call to the API. Its message is a sentence to show. */
export class LocalFailure extends Error {
  override name = 'LocalFailure';
}

const kinds: Record<string, Failure['kind']> = {
  UNAUTHORIZED: 'signed-out',
  FORBIDDEN: 'forbidden',
  NOT_FOUND: 'missing',
  BAD_REQUEST: 'rejected',
  CONFLICT: 'rejected',
  PRECONDITION_FAILED: 'rejected',
  PRECONDITION_REQUIRED: 'rejected',
  TOO_MANY_REQUESTS: 'rejected',
  SERVICE_UNAVAILABLE: 'unavailable',
  GATEWAY_TIMEOUT: 'unavailable',
};

export function describeFailure(error: unknown): Failure {
  if (error instanceof LocalFailure) return { kind: 'rejected', message: error.message };
  if (!(error instanceof TRPCClientError))
    return { kind: 'broken', message: 'This page could not be shown.' };
  const code: unknown = error.data?.code;
  // Without a code the response is not from the API: no network, or a proxy's error page.
  if (typeof code !== 'string') return { kind: 'unavailable', message: 'Weir cannot be reached.' };
  return { kind: kinds[code] ?? 'broken', message: error.message };
}

/** A query that failed because the API cannot be reached is called again after this time, in milliseconds. */
export const retryMs = 5_000;

/** Whether a retry may succeed. */
export function isTransient(error: unknown): boolean {
  return describeFailure(error).kind === 'unavailable';
}

/** Option of a query that is repeated after this time, and after `retryMs` while the API is unreachable. */
export function polled<Data>(ms: number | false | ((data: Data | undefined) => number | false)) {
  return {
    refetchInterval: ({ state: { data, error } }: { state: { data: Data | undefined; error: unknown } }) => {
      if (isTransient(error)) return retryMs;
      return typeof ms === 'function' ? ms(data) : ms;
    },
  };
}
