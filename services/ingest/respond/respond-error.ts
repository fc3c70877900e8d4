import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IngestError } from '../../../event/errors.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import type { Logger } from '../../../platform/log.ts';
import { secondsToMonthEnd } from '../../../store/accounts/month.ts';
import { retryAfterSeconds } from '../limits.ts';
import type { FailureLog } from './failure-log.ts';
import { sendJson } from './respond.ts';

export type RespondError = ReturnType<typeof createRespondError>;

/** Logs an error and sends it (docs/api.md §7) once the request's body is read. Never rejects. */
export function createRespondError(answerAfterBody: AnswerAfterBody, failures: FailureLog, log: Logger) {
  return async (request: IncomingMessage, response: ServerResponse, error: IngestError) => {
    failures.note(error);
    try {
      await answerAfterBody(request, response, () => {
        sendJson(response, error.status, error.toBody(), headersOf(error));
      });
    } catch (failure) {
      log.error({ err: failure }, 'an error response could not be sent');
      request.destroy();
    }
  };
}

function headersOf({ status, id }: IngestError): Record<string, string | number> {
  return {
    ...(id === 'usage_limit_exceeded' && { 'Weir-Quota-Reset': secondsToMonthEnd(Date.now()) }),
    ...(status === 503 && { 'Retry-After': retryAfterSeconds }),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  };
}
