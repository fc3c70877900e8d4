import { z } from 'zod';
import { auditRow } from '../../../store/accounts/audit/audit-list.ts';
import { mediaIdPattern } from '../../../store/media/read-media.ts';
import { exportFormats } from '../downloads/export.ts';
import { eventFilter } from '../filter-input.ts';
import { downloadErrors, type Json, takeNamed } from './responses.ts';

export function downloadPaths(named: Map<string, Json>): Json {
  const audit = takeNamed(auditRow, 'output', named);
  return {
    '/export/{spaceId}': { get: exportDownload(takeNamed(z.object(eventFilter), 'input', named)) },
    '/raw/{spaceId}/{eventId}': {
      get: download('raw', {
        summary: 'One event, byte for byte as it was sent',
        description: 'For read keys with the scope `events` or `administration`.',
        parameters: [spaceId, pathId('eventId')],
        content: { 'application/json': {} },
      }),
    },
    '/media/{spaceId}/{mediaId}': {
      get: download('media', {
        summary: 'An image, a sound or a file that a Langfuse SDK uploaded apart from its span',
        description:
          'For read keys with the scope `events` or `administration`. The text of the event names it: ' +
          '`@@@langfuseMedia:type=…|id=mediaId|…@@@`.',
        parameters: [spaceId, pathId('mediaId', { type: 'string', pattern: mediaIdPattern.source })],
        content: { 'application/octet-stream': {} },
      }),
    },
    '/audit/{spaceId}': {
      get: download('audit', {
        summary: 'The audit log of the space, one row a line, newest first',
        description: 'For read keys with the scope `administration`.',
        parameters: [spaceId],
        content: { 'application/x-ndjson': { schema: audit } },
      }),
    },
  };
}

function exportDownload(filter: Json): Json {
  const formats = { type: 'string', enum: Object.keys(exportFormats) };
  return download('export', {
    summary: 'All events of a filter, newest first, as a file',
    description:
      'For read keys with the scope `events` or `administration`. The trailer `Weir-Export-Rows`, and the last line of the NDJSON ' +
      'formats, have the number of events. After an error the connection is reset.',
    parameters: [
      spaceId,
      { name: 'format', in: 'query', required: true, schema: formats },
      { name: 'filter', in: 'query', content: { 'application/json': { schema: filter } } },
    ],
    content: Object.fromEntries(
      Object.values(exportFormats).map(({ type }) => [type.split(';', 1)[0] ?? type, {}]),
    ),
  });
}

function pathId(name: string, schema: Json = { type: 'string', format: 'uuid' }): Json {
  return { name, in: 'path', required: true, schema };
}

const spaceId = pathId('spaceId');

function download(
  operationId: string,
  { content, ...described }: { summary: string; description: string; parameters: Json[]; content: Json },
): Json {
  const done = { description: 'The file.', content };
  return { operationId, tags: ['downloads'], ...described, responses: { 200: done, ...downloadErrors() } };
}
