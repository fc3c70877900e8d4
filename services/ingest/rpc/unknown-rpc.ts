import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../lib/errors.ts';
import { refuseCall } from './answer.ts';
import { toConnectError } from './error.ts';
import { parseCallForm } from './form.ts';

/**
 * Answers a call of gRPC or gRPC-Web to a path that we do not have: UNIMPLEMENTED. An HTTP 404 has no status that such
 * a client reads, and no detail.
 *
 * @throws IngestError `not_found` for every other request.
 */
export async function refuseUnknownRpc(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const error = new IngestError('not_found', 'There is nothing at this path.');
  const form = parseCallForm(request.headers['content-type'] ?? '');
  if (form === undefined || form.protocol === 'connect') throw error;
  await refuseCall({ request, response }, form, toConnectError(error, form));
}
