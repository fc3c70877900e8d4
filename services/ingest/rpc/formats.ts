import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../../lib/errors.ts';
import { bodyBytesMax, envelopeBytes } from '../../../lib/limits.ts';
import { bodyTooLarge, type HeldBody } from '../body.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { decodeBody } from '../decode.ts';
import type { Readers } from '../open-readers.ts';
import type { BatchFormat } from '../take-batch.ts';
import type { CallForm } from './form.ts';

/** The four forms that a message may have. */
export function createRpcFormats(readers: Readers): (form: CallForm) => BatchFormat {
  const bare = (read: BatchFormat['read']): BatchFormat => ({
    requestBytesMax: bodyBytesMax,
    unpack: (request, sent, budget) => decodeBody(sent, request.headers['content-encoding'], budget),
    read,
  });
  const enveloped = (read: BatchFormat['read']): BatchFormat => ({
    requestBytesMax: bodyBytesMax + envelopeBytes,
    unpack: openEnvelope,
    read,
  });
  const formats = {
    bare: { binary: bare(readers.message), json: bare(readers.messageJson) },
    enveloped: { binary: enveloped(readers.message), json: enveloped(readers.messageJson) },
  };
  return ({ protocol, isJson }) =>
    formats[protocol === 'connect' ? 'bare' : 'enveloped'][isJson ? 'json' : 'binary'];
}

/** gRPC's and gRPC-Web's framing of one message: a byte of flags, four of length. */
async function openEnvelope(request: IncomingMessage, sent: Buffer, budget: ByteBudget): Promise<HeldBody> {
  if (sent.length < envelopeBytes) throw invalid('The call has no message.');
  const flags = sent.readUInt8(0);
  const length = sent.readUInt32BE(1);
  if (flags > 1) throw invalid('The envelope of the message has flags that are not known.');
  if (length > bodyBytesMax) throw bodyTooLarge();
  const message = sent.subarray(envelopeBytes);
  if (message.length < length) throw invalid('The message is shorter than its envelope says.');
  if (message.length > length) throw invalid('The call has more than one message.');
  if (flags === 0) return { bytes: message, [Symbol.dispose]: () => {} };
  const encoding = request.headers['grpc-encoding'];
  if (encoding === undefined || encoding === 'identity') {
    throw invalid('The message is compressed, and grpc-encoding does not say how.');
  }
  return decodeBody(message, String(encoding), budget);
}

function invalid(details: string): IngestError {
  return new IngestError('invalid_request_body', details);
}
