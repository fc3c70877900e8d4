import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { ClientGoneError } from '../body.ts';
import { logFailure } from '../log-failure.ts';
import { type BatchDependencies, type BatchFormat, takeBatch } from '../take-batch.ts';
import { refuseCall, sendReceipt } from './answer.ts';
import { toConnectError } from './error.ts';
import { type CallForm, parseCallForm } from './form.ts';

export interface RpcDependencies extends BatchDependencies {
  rpcFormat: (form: CallForm) => BatchFormat;
  log: Logger;
}

/**
 * `weir.ingest.v1.IngestService/IngestEvents`, over Connect, gRPC and gRPC-Web: the batch is taken as a JSON one is, by
 * the same checks in the same order (ADR 0010).
 *
 * @throws IngestError `unsupported_media_type`: there is no protocol to answer in.
 * @throws ClientGoneError
 */
export async function ingestEventsRpc(
  dependencies: RpcDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = parseCallForm(request.headers['content-type'] ?? '');
  if (form === undefined) {
    throw new IngestError(
      'unsupported_media_type',
      'The Content-Type is none of Connect, gRPC and gRPC-Web.',
    );
  }
  try {
    sendReceipt(response, form, await takeBatch(dependencies, request, dependencies.rpcFormat(form)));
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    const error = IngestError.from(thrown);
    logFailure(dependencies.log, error);
    await refuseCall({ request, response }, form, toConnectError(error, form));
  }
}
