import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../lib/errors.ts';
import { parseRpcEncoding } from './encoding.ts';
import type { RespondRpcError } from './respond-error.ts';

/**
 * Answers a gRPC or gRPC-Web call to an unknown path with UNIMPLEMENTED: an HTTP 404 carries no status that these
 * clients read, and no detail.
 *
 * @throws IngestError `not_found` for every other request.
 */
export async function answerUnknownPath(
  { respondRpcError }: { respondRpcError: RespondRpcError },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const error = new IngestError('not_found', 'There is nothing at this path.');
  const encoding = parseRpcEncoding(request.headers['content-type'] ?? '');
  if (encoding === undefined || encoding.protocol === 'connect') throw error;
  await respondRpcError({ request, response }, encoding, error);
}
