import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuditRow, listAudit } from '../../../store/accounts/audit/audit-list.ts';
import { auditPageMax } from '../limits.ts';
import type { SpaceAdmin } from '../space-data.ts';
import {
  checkDownload,
  type DownloadDependencies,
  downloadHeaders,
  parsePathId,
  sendDownloadFailure,
} from './download.ts';
import { downloadPageMsMax } from './limits.ts';
import { sendPages } from './paged-response.ts';

export const auditPath = '/audit/';

/**
 * `GET /audit/:space`: NDJSON, one AuditRow per line, newest first, for admins. Pages are read as fast as the
 * client consumes them. An error resets the connection, so that the client notices the missing rest.
 */
export async function sendAuditLog(
  { services, slots, log }: DownloadDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const spaceId = parsePathId((request.url ?? '').split('?', 1)[0]?.slice(auditPath.length));
    const { actor, caller, checkAccess } = await checkDownload(
      services,
      { request, response, spaceId },
      'admin',
    );
    using _slot = slots.take(caller, response);
    const admin = services.openSpaceAdmin(spaceId, actor);
    const first = await listAudit(admin.database, spaceId, { limit: auditPageMax });
    response.writeHead(200, {
      ...downloadHeaders,
      'Content-Type': 'application/x-ndjson',
      'Content-Disposition': `attachment; filename="audit-${spaceId}.ndjson"`,
    });
    if (request.method === 'HEAD') response.end();
    else {
      const pages = toLines(admin, first);
      await sendPages({ response, pages, checkAccess, pageMsMax: downloadPageMsMax });
    }
  } catch (thrown) {
    if (!response.destroyed) sendDownloadFailure({ request, response, log }, thrown);
  }
}

/** Yields the lines of one page at a time. */
async function* toLines({ database, spaceId }: SpaceAdmin, first: AuditRow[]): AsyncGenerator<string> {
  let rows = first;
  while (rows.length > 0) {
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const before = rows.at(-1)?.id;
    rows =
      rows.length < auditPageMax ? [] : await listAudit(database, spaceId, { before, limit: auditPageMax });
  }
}
