/** Wrapped errors that are searched for a code. A chain of causes may be a cycle. */
const causesMax = 5;

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** An error's code (ENOENT, an SQLSTATE), or that of the nearest cause: Drizzle wraps Postgres' errors. */
export function codeOf(thrown: unknown): string | undefined {
  let error = thrown;
  for (let depth = 0; depth < causesMax && error instanceof Error; depth++) {
    if ('code' in error && typeof error.code === 'string') return error.code;
    error = error.cause;
  }
  return undefined;
}

/** Error codes of node:net, node:dns and postgres.js for a server that cannot be reached. */
export const unreachableCodes: ReadonlySet<string | undefined> = new Set([
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
