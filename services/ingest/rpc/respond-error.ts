import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IngestError } from '../../../event/errors.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import type { FailureLog } from '../respond/failure-log.ts';
import type { RpcEncoding } from './encoding.ts';
import type { toConnectError } from './error.ts';
import { sendRpcError } from './respond.ts';

/** Logs an error and sends it in the call's protocol, once the rest of the request's body is read. */
export type RespondRpcError = (
  exchange: { request: IncomingMessage; response: ServerResponse },
  encoding: RpcEncoding,
  error: IngestError,
) => Promise<void>;

/** @param options `convert` determines the code and the details for the clients of the service. */
export function createRespondRpcError(options: {
  answerAfterBody: AnswerAfterBody;
  failures: FailureLog;
  convert: typeof toConnectError;
}): RespondRpcError {
  const { answerAfterBody, failures, convert } = options;
  return ({ request, response }, encoding, error) => {
    failures.note(error);
    return answerAfterBody(request, response, () =>
      sendRpcError(response, encoding, convert(error, encoding)),
    );
  };
}
