import { hash } from 'node:crypto';
import { z } from 'zod';
import { IngestError } from '../../../../event/errors.ts';
import { mediaBytesMax } from '../../../../platform/limits.ts';
import type { MediaInit } from '../../../../platform/queue/group.ts';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import { parseBody } from '../../read/parse-body.ts';
import { eventIdOf, hashOf, isTraceId, traceUuidOf } from '../mapping/ids.ts';

/** Media that a Langfuse SDK took out of a span, and is about to upload. */
export interface SentMedia {
  /** Id and type of the media, and their use by the span. */
  readonly media: MediaInit;
  readonly bytes: number;
  /** Hash of the bytes, in base64. */
  readonly sha256: string;
}

/** The body of `POST /api/public/media`. Its `field` names the attribute, where the span names the media. */
const announcement = z.object({
  traceId: z.string().refine(isTraceId, 'is no trace id of W3C Trace Context'),
  observationId: z.string().refine(isSpanId, 'is no span id of W3C Trace Context').nullish(),
  contentType: z.string().regex(/^[\x20-\x7e]{1,200}$/, 'is no media type'),
  contentLength: z.int().min(1),
  sha256Hash: z.string().regex(/^[A-Za-z0-9+/]{43}=$/, 'is no SHA-256 in base64'),
});

/** @throws IngestError `invalid_request_body`; `batch_too_large` for media larger than a message may be. */
export function readAnnouncement(body: Buffer): SentMedia {
  const { data, error } = announcement.safeParse(parseBody(body));
  if (data === undefined) {
    const [issue] = error.issues;
    throw new IngestError('invalid_request_body', `${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { traceId, observationId, contentType, contentLength, sha256Hash } = data;
  if (contentLength > mediaBytesMax)
    throw new IngestError(
      'batch_too_large',
      `The media have ${contentLength} bytes. Weir takes up to ${mediaBytesMax / 1024 ** 2} MiB.`,
    );
  // The SDK has put this id into the span.
  const id = sha256Hash.replaceAll('+', '-').replaceAll('/', '_').slice(0, 22);
  const spanId = observationId ?? '';
  return {
    media: {
      id,
      useId: hashOf([traceId, spanId, id]),
      traceId: traceUuidOf(traceId),
      eventId: spanId === '' ? '' : eventIdOf(traceId, spanId),
      type: contentType,
    },
    bytes: contentLength,
    sha256: sha256Hash,
  };
}

/** @throws IngestError `invalid_request_body` for other bytes than were announced. */
export function withBytes({ media, bytes, sha256 }: SentMedia, data: Buffer): MediaInit {
  if (data.length !== bytes || hash('sha256', data, 'base64') !== sha256)
    throw new IngestError('invalid_request_body', 'The bytes are not those that were announced.');
  return { ...media, data };
}
