import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IngestError } from '../../../event/errors.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import type { FailureLog } from '../respond/failure-log.ts';
import type { RpcEncoding } from './encoding.ts';
import { toConnectError } from './error.ts';
import { sendRpcError } from './respond.ts';

/** Logs an error and sends it in the call's protocol, once the rest of the request's body is read. */
export type RespondRpcError = (
  exchange: { request: IncomingMessage; response: ServerResponse },
  encoding: RpcEncoding,
  error: IngestError,
) => Promise<void>;

export function createRespondRpcError(options: {
  answerAfterBody: AnswerAfterBody;
  failures: FailureLog;
}): RespondRpcError {
  const { answerAfterBody, failures } = options;
  return ({ request, response }, encoding, error) => {
    failures.note(error);
    return answerAfterBody(request, response, () =>
      sendRpcError(response, encoding, toConnectError(error, encoding)),
    );
  };
}
