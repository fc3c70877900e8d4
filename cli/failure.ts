/** Error codes of node:net, node:dns and postgres.js for a server that cannot be reached. */
const unreachableCodes = new Set([
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

const undefinedTable = '42P01';

/** Describes an error to the operator in sentences, without a stack trace. */
export function describeFailure(thrown: unknown): string {
  const error = innermost(thrown);
  const code = codeOf(error);
  if (code !== undefined && unreachableCodes.has(code)) {
    return `Postgres does not answer (${code}). Is Weir running? \`npm start\` starts it.`;
  }
  if (code === undefinedTable) {
    return 'The database does not have the tables of Weir: `npm start` or `weir migrate` creates them.';
  }
  return error instanceof Error ? error.message : String(error);
}

/** Drizzle wraps the error of Postgres in one that quotes the statement. */
function innermost(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  return error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
