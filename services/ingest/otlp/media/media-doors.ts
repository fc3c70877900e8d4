import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FairLimits, openFairLimiter } from '../../../../platform/fair-limiter.ts';
import type { AnswerAfterBody } from '../../../../platform/http/unread-body.ts';
import { mediaBytesMax } from '../../../../platform/limits.ts';
import type { MediaInit } from '../../../../platform/queue/group.ts';
import { withTimeout } from '../../../../platform/timeout.ts';
import type { Database } from '../../../../store/db/database.ts';
import { hasMedia, mediaIdPattern } from '../../../../store/media/read-media.ts';
import { authenticateExporter } from '../../admit/authenticate.ts';
import type { DecodeBody } from '../../body/decode.ts';
import { type BatchDependencies, ingestRequest, type RequestDecoder } from '../../ingest-batch.ts';
import { keyLookupTimeoutMs } from '../../limits.ts';
import { sendJson } from '../../respond/respond.ts';
import { createBareDecoder } from '../../rpc/decoders.ts';
import { announcementBytesMax } from '../limits.ts';
import { readAnnouncement, type SentMedia, withBytes } from './sent-media.ts';
import { type Upload, UploadTokens } from './upload-tokens.ts';

/**
 * The media of Langfuse's SDKs (ADR 48). They take images, sounds and files out of spans, and leave a
 * reference by the hash. Then they POST what they have, PUT the bytes to the address of the answer, and PATCH
 * how that went.
 */

export interface MediaDependencies extends BatchDependencies {
  mediaUploads: MediaUploads;
  answerAfterBody: AnswerAfterBody;
}

export interface MediaUploads {
  readonly tokens: UploadTokens;
  readonly announcements: RequestDecoder<Announced>;
  bytesOf(upload: Upload): RequestDecoder<MediaInit>;
}

/** Media, and whether the space has them. */
interface Announced extends SentMedia {
  readonly isStored: boolean;
}

/** Look-ups of media use one of the four connections to Postgres: keys and quotas need the others. */
const lookUpInTurn: FairLimits = { atOnceMax: 1, atOnceOfSpaceMax: 1, waitingOfUserMax: 100 };

export function openMediaUploads(options: {
  database: Database;
  pepper: string;
  decodeBody: DecodeBody;
}): MediaUploads {
  const { database, pepper, decodeBody } = options;
  const inTurn = openFairLimiter(lookUpInTurn);
  const announcements = createBareDecoder(
    async (body, spaceId) => {
      const sent = readAnnouncement(body);
      const asked = inTurn({ spaceId, holderId: spaceId }, () => hasMedia(database, spaceId, sent.media.id));
      // While Postgres is away, or many wait, the media are sent again.
      return { ...sent, isStored: await withTimeout(keyLookupTimeoutMs, asked).catch(() => false) };
    },
    { bodyBytesMax: announcementBytesMax, decodeBody },
  );
  return {
    tokens: new UploadTokens(pepper),
    announcements,
    bytesOf: (upload) =>
      createBareDecoder((bytes) => withBytes(upload, bytes), { bodyBytesMax: mediaBytesMax, decodeBody }),
  };
}

const mediaPath = '/api/public/media';

/** @returns the handlers of a path by method; undefined for another path. */
export function findMediaHandlers(path: string) {
  if (path === mediaPath) return { POST: announceMedia };
  const isUpload = path.startsWith(`${mediaPath}/`) && mediaIdPattern.test(path.slice(mediaPath.length + 1));
  return isUpload ? { PUT: uploadMedia, PATCH: acceptReport } : undefined;
}

/** Answers where to send the bytes; null when the space has them, and their use by the span is durable. */
async function announceMedia(
  dependencies: MediaDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { tokens, announcements } = dependencies.mediaUploads;
  const { principal, result, headers } = await ingestRequest(dependencies, request, {
    decoder: announcements,
    protocol: 'otlp-http',
    partsOf: ({ media, isStored }) => ({ batches: [], media: isStored ? [media] : [] }),
    authenticate: authenticateExporter,
  });
  const { isStored, ...sent } = result;
  const mediaId = sent.media.id;
  const uploadUrl = isStored
    ? null
    : urlOf(request, mediaId, tokens.sign({ ...sent, keyId: principal.keyId }));
  sendJson(response, 201, { mediaId, uploadUrl }, headers);
}

/** Takes the bytes. The token of the address names the key, which SDKs do not send here. */
async function uploadMedia(
  dependencies: MediaDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { tokens, bytesOf } = dependencies.mediaUploads;
  const upload = tokens.open(new URLSearchParams(request.url?.split('?', 2)[1]).get('token') ?? '');
  const { headers } = await ingestRequest(dependencies, request, {
    decoder: bytesOf(upload),
    protocol: 'otlp-http',
    partsOf: (media) => ({ batches: [], media: [media] }),
    authenticate: () => dependencies.apiKeyCache.findById(upload.keyId),
  });
  sendJson(response, 200, {}, headers);
}

/** The SDK reports its PUT, of which ingest knows. */
async function acceptReport(
  { unauthenticated, apiKeyCache, answerAfterBody }: MediaDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await unauthenticated.admit(request, () => authenticateExporter(request, apiKeyCache));
  await answerAfterBody(request, response, () => sendJson(response, 200, {}));
}

/** At the address that the client used: a proxy that terminates TLS passes the host, and says `https`. */
function urlOf({ headers, socket }: IncomingMessage, mediaId: string, token: string): string {
  const [forwarded] = headers['x-forwarded-proto']?.toString().split(',') ?? [];
  const scheme = 'encrypted' in socket || forwarded?.trim() === 'https' ? 'https' : 'http';
  const host = headers[':authority']?.toString() ?? headers.host;
  return `${scheme}://${host}${mediaPath}/${mediaId}?token=${token}`;
}
