import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { z } from 'zod';
import { withTimeout } from '../../../platform/timeout.ts';
import { mediaIdPattern, readMedia } from '../../../store/media/read-media.ts';
import { readWholeEvent } from '../events/whole-event.ts';
import { dashboardCallTimeoutMs } from '../limits.ts';
import { refusal } from '../refusal.ts';
import type { SpaceTexts } from '../space-data.ts';
import {
  checkDownload,
  type DownloadDependencies,
  downloadHeaders,
  parsePathId,
  pathGuid,
  sendDownloadFailure,
} from './download.ts';

/** A kind of file that is read whole, and sent as an attachment. */
export interface WholeFile {
  readonly path: string;
  readonly id: z.ZodType<string>;
  /** @returns undefined when the space does not have the file. */
  read(space: SpaceTexts, id: string): Promise<Buffer | undefined>;
  /** Public text. */
  readonly missing: string;
  headersOf(id: string): OutgoingHttpHeaders;
}

/** `GET /raw/:space/:event`: the bytes of an event as it was sent. */
export const rawEvent: WholeFile = {
  path: '/raw/',
  id: pathGuid,
  async read(space, id) {
    const found = await readWholeEvent(space, id);
    // Ingest only accepts UTF-8, so encoding the text gives the same bytes.
    return found && Buffer.from(found.event);
  },
  missing: 'There is no such event.',
  headersOf: (id) => ({
    'Content-Type': 'application/json',
    'Content-Disposition': `attachment; filename="event-${id}.json"`,
  }),
};

/** `GET /media/:space/:media`: an image, sound or file, without its name and type, which senders choose. */
export const uploadedMedia: WholeFile = {
  path: '/media/',
  id: z.string().regex(mediaIdPattern),
  read: ({ database, spaceId, openingLimiter }, id) => openingLimiter(() => readMedia(database, spaceId, id)),
  missing: 'There are no such media.',
  headersOf: () => ({ 'Content-Type': 'application/octet-stream', 'Content-Disposition': 'attachment' }),
};

/** Sends the file of a path with the ids of the space and the file. 401 without a session, else 404. */
export async function sendWholeFile(
  file: WholeFile,
  {
    request,
    response,
    services,
    log,
  }: DownloadDependencies & { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  try {
    const { id, bytes } = await withTimeout(dashboardCallTimeoutMs, readFile());
    response.writeHead(200, { ...downloadHeaders, ...file.headersOf(id), 'Content-Length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  } catch (thrown) {
    sendDownloadFailure({ request, response, log }, thrown);
  }

  async function readFile(): Promise<{ id: string; bytes: Buffer }> {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const [space, named, ...more] = path.slice(file.path.length).split('/');
    const spaceId = parsePathId(space);
    const id = parsePathId(more.length === 0 ? named : undefined, file.id);
    const { caller } = await checkDownload(services, { request, response, spaceId }, 'viewer');
    const bytes = await file.read(services.openSpace(caller), id);
    if (bytes === undefined) throw refusal('NOT_FOUND', file.missing);
    return { id, bytes };
  }
}
