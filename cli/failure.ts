/** Codes by which node:net, node:dns and postgres.js say that nobody is there. */
const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ENOENT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
]);

/** What went wrong, for the person who gave the command: sentences, never a stack trace. */
export function describeFailure(thrown: unknown): string {
  const error = innermost(thrown);
  const code = codeOf(error);
  if (code !== undefined && unreachable.has(code)) {
    return `Postgres does not answer (${code}). Is Weir running? \`npm start\` starts it.`;
  }
  // 42P01: the table is not there.
  if (code === '42P01') return 'The database is not one of Weir yet: `npm start` makes its tables.';
  return error instanceof Error ? error.message : String(error);
}

/** Drizzle wraps what Postgres said into an error that quotes the statement. */
function innermost(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  return error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
