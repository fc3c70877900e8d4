import type { IngestError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';

/** Our failures are errors, with their cause; what a client did wrong is worth a line only when somebody looks. */
export function logFailure(log: Logger, error: IngestError): void {
  if (error.status >= 500) log.error({ err: error.cause ?? error, id: error.id }, 'request failed');
  else log.debug({ id: error.id, details: error.message }, 'request refused');
}
