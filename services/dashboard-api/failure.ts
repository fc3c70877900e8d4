import { TRPCError } from '@trpc/server';

/** What sockets and postgres.js report when Postgres cannot be talked to. */
const unreachableCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** SQLSTATE classes that pass by themselves: connection lost, out of resources, shutting down or starting up. */
const passingState = /^(08|53|57P)[0-9A-Z]+$/;
const queryCanceled = '57014';

/** How many causes deep a library may wrap the error of the database. */
const causesMax = 5;

/**
 * What a call answers for an error: what was thrown for the client passes; Postgres away is SERVICE_UNAVAILABLE, a
 * query that took too long GATEWAY_TIMEOUT; everything else stays an INTERNAL_SERVER_ERROR, for the log only.
 */
export function classifyFailure(error: TRPCError): TRPCError {
  if (error.code !== 'INTERNAL_SERVER_ERROR') return error;
  const code = codeOf(error);
  if (code === undefined) return error;
  if (code === queryCanceled) {
    return new TRPCError({
      code: 'GATEWAY_TIMEOUT',
      message: 'The query took too long. Narrow the time range.',
      cause: error,
    });
  }
  return unreachableCodes.has(code) || passingState.test(code) ? unavailable(error) : error;
}

/** The database cannot answer now; the same call may succeed later. */
export function unavailable(cause: unknown): TRPCError {
  return new TRPCError({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The database cannot be reached. Try again in a moment.',
    cause,
  });
}

/** The code that Postgres or the socket gave, however deep it is wrapped. */
function codeOf(error: TRPCError): string | undefined {
  let thrown: unknown = error.cause;
  for (let depth = 0; depth < causesMax && thrown instanceof Error; depth++) {
    if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
    thrown = thrown.cause;
  }
  return undefined;
}
