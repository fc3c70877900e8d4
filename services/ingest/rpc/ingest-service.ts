import type { IncomingMessage } from 'node:http';
import { Code, ConnectError, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { contentEncodings } from '../../../lib/content-encoding.ts';
import { IngestError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { ClientGoneError, discardBody } from '../body.ts';
import { logFailure } from '../log-failure.ts';
import { type BatchDependencies, type BatchFormat, takeBatch } from '../take-batch.ts';
import { toConnectError } from './error.ts';
import { hasUnknownEncoding, type MessageForm } from './formats.ts';

export interface RpcDependencies extends BatchDependencies {
  rpcFormat: (form: MessageForm) => BatchFormat;
  log: Logger;
}

/** The request of a call, and the form of its message. */
export const callKey = createContextKey<{ request: IncomingMessage; form: MessageForm } | undefined>(
  undefined,
);

/**
 * Implements weir.ingest.v1.IngestService. The request message is not Connect's to read: its limits hold for one
 * message after decompression only, and a message that cannot be parsed would be an INTERNAL error, which clients
 * retry. What is read here meets the same checks, in the same order, as a JSON request.
 */
export function createIngestService(dependencies: RpcDependencies) {
  return {
    async ingestEvents(_: unknown, context: HandlerContext): Promise<{ message: string }> {
      const call = context.values.get(callKey);
      if (call === undefined) throw new Error('a call without its request');
      try {
        refuseUnknownEncoding(call);
        const receipt = await takeBatch(dependencies, call.request, dependencies.rpcFormat(call.form));
        for (const [name, value] of Object.entries(receipt.headers)) context.responseHeader.set(name, value);
        return { message: receipt.message };
      } catch (thrown) {
        throw await refuse(thrown, { request: call.request, log: dependencies.log });
      }
    },
  };
}

/** What a call is answered with, after what is left of its request was read and thrown away. */
async function refuse(
  thrown: unknown,
  { request, log }: { request: IncomingMessage; log: Logger },
): Promise<ConnectError> {
  if (thrown instanceof ClientGoneError) return new ConnectError('the client is gone', Code.Canceled);
  await discardBody(request);
  if (thrown instanceof ConnectError) return thrown;
  const error = IngestError.from(thrown);
  logFailure(log, error);
  return toConnectError(error);
}

/** UNIMPLEMENTED and the encodings that are known, as both protocols want it: clients then send uncompressed. */
function refuseUnknownEncoding({ request, form }: { request: IncomingMessage; form: MessageForm }): void {
  if (!hasUnknownEncoding(request, form)) return;
  const known = contentEncodings.join(', ');
  const refusal = new IngestError(
    'invalid_request_body',
    `The compression must be one of ${known}, or none.`,
  );
  const error = toConnectError(refusal, Code.Unimplemented);
  error.metadata.set(form.isEnveloped ? 'grpc-accept-encoding' : 'accept-encoding', known);
  throw error;
}
