import type { IncomingMessage, ServerResponse } from 'node:http';
import { withTimeout } from '../../../platform/timeout.ts';
import { mediaIdPattern, readMedia } from '../../../store/media/read-media.ts';
import { dashboardCallTimeoutMs } from '../limits.ts';
import { refusal } from '../refusal.ts';
import {
  checkDownload,
  type DownloadDependencies,
  downloadHeaders,
  parsePathId,
  sendDownloadFailure,
} from './download.ts';

export const mediaPath = '/media/';

/**
 * `GET /media/:space/:media`: the bytes of an uploaded image, sound or file, always as an attachment without a
 * type, since senders choose both. 401 without a session, else 404.
 */
export async function sendMedia(
  { services, log }: DownloadDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const bytes = await withTimeout(dashboardCallTimeoutMs, readBytes());
    response.writeHead(200, {
      ...downloadHeaders,
      'Content-Type': 'application/octet-stream',
      // Without a name: a page knows it, or the type.
      'Content-Disposition': 'attachment',
      'Content-Length': bytes.length,
    });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  } catch (thrown) {
    sendDownloadFailure({ request, response, log }, thrown);
  }

  async function readBytes(): Promise<Buffer> {
    const [space, id = '', ...more] =
      (request.url ?? '').split('?', 1)[0]?.slice(mediaPath.length).split('/') ?? [];
    const spaceId = parsePathId(space);
    const { caller } = await checkDownload(services, { request, response, spaceId }, 'viewer');
    const isId = mediaIdPattern.test(id) && more.length === 0;
    const { database, openingLimiter } = services.openSpace(caller);
    const bytes = isId ? await openingLimiter(() => readMedia(database, spaceId, id)) : undefined;
    if (bytes === undefined) throw refusal('NOT_FOUND', 'There are no such media.');
    return bytes;
  }
}
