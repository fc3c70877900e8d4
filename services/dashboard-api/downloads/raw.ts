import type { IncomingMessage, ServerResponse } from 'node:http';
import { withTimeout } from '../../../platform/timeout.ts';
import { readWholeEvent } from '../events/whole-event.ts';
import { dashboardCallTimeoutMs } from '../limits.ts';
import { refusal } from '../refusal.ts';
import {
  checkDownload,
  type DownloadDependencies,
  downloadHeaders,
  parsePathId,
  sendDownloadFailure,
} from './download.ts';

export const rawPath = '/raw/';

/** `GET /raw/:space/:event`: an event's bytes as sent, as an attachment. 401 without a session, else 404. */
export async function sendRawEvent(
  { services, log }: DownloadDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { id, bytes } = await withTimeout(dashboardCallTimeoutMs, readRawEvent());
    response.writeHead(200, {
      ...downloadHeaders,
      'Content-Type': 'application/json',
      'Content-Disposition': `attachment; filename="event-${id}.json"`,
      'Content-Length': bytes.length,
    });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  } catch (thrown) {
    sendDownloadFailure({ request, response, log }, thrown);
  }

  async function readRawEvent(): Promise<{ id: string; bytes: Buffer }> {
    const [space, event, ...more] =
      (request.url ?? '').split('?', 1)[0]?.slice(rawPath.length).split('/') ?? [];
    const [spaceId, id] = [parsePathId(space), parsePathId(more.length === 0 ? event : undefined)];
    const { caller } = await checkDownload(services, { request, response, spaceId }, 'viewer');
    const found = await readWholeEvent(services.openSpace(caller), id);
    if (found === undefined) throw refusal('NOT_FOUND', 'There is no such event.');
    // Ingest only accepts UTF-8, so encoding the text gives the same bytes.
    return { id, bytes: Buffer.from(found.event) };
  }
}
