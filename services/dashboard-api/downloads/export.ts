import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { ExportedEvent } from '../events/export-rows.ts';
import { exportsAtOnceMax } from '../limits.ts';
import { eventFilter } from '../procedures/filter-input.ts';
import type { SpaceStore } from '../spaces/space-store.ts';
import { csvRecord } from './csv.ts';
import {
  type DownloadDependencies,
  downloadHeaders,
  openDownloadedSpace,
  parsePathId,
  sendDownloadFailure,
} from './download.ts';

export const exportPath = '/export/';

/** The trailer of the response with the number of events that it holds. */
export const exportRowsTrailer = 'Weir-Export-Rows';

const formats = {
  /** The columns of an event, a line of JSON each; the last line is the number of events. */
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  /** The events as they were sent, one a line; the last line is the number of events. */
  events: { type: 'application/x-ndjson', extension: 'events.ndjson' },
} as const;

const query = z.object({
  format: z.enum(['ndjson', 'csv', 'events']),
  filter: z
    .string()
    .default('{}')
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue('must be JSON');
        return z.NEVER;
      }
    })
    .pipe(z.strictObject(eventFilter)),
});

type ExportQuery = z.infer<typeof query>;

/**
 * Makes the handler of `GET /export/:space?format=…&filter=…`: all events of a filter, newest first, as an attachment. The
 * response is made as fast as the client takes it, a page at a time. It ends with the number of events; when it fails on
 * the way, the connection breaks.
 */
export function createExport({ services, log }: DownloadDependencies) {
  let running = 0;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let isCounted = false;
    try {
      const url = new URL(request.url ?? '', 'http://localhost');
      const spaceId = parsePathId(url.pathname.slice(exportPath.length));
      const store = await openDownloadedSpace(services, { request, response, spaceId });
      const asked = parseQuery(url.searchParams);
      if (running >= exportsAtOnceMax) {
        throw new TRPCError({
          code: 'TOO_MANY_REQUESTS',
          message: `${exportsAtOnceMax} exports run at a time. Try again when one has ended.`,
        });
      }
      running += 1;
      isCounted = true;
      await sendExport(store, asked, response);
    } catch (thrown) {
      if (!response.destroyed) sendDownloadFailure({ request, response, log }, thrown);
    } finally {
      if (isCounted) running -= 1;
    }
  };
}

function parseQuery(parameters: URLSearchParams): ExportQuery {
  const parsed = query.safeParse(Object.fromEntries(parameters));
  if (parsed.success) return parsed.data;
  throw new TRPCError({ code: 'BAD_REQUEST', message: 'The query is not valid.', cause: parsed.error });
}

async function sendExport(
  store: SpaceStore,
  { format, filter }: ExportQuery,
  response: ServerResponse,
): Promise<void> {
  const { type, extension } = formats[format];
  let rows = 0;
  const count = (added: number) => {
    rows += added;
  };
  const pages =
    format === 'events' ? toText(store, filter, count) : toColumns(store, { format, filter }, count);
  // The first page is read before the headers are sent: what is wrong with the filter is a status.
  const first = await pages.next();
  response.writeHead(200, {
    ...downloadHeaders,
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="events-${store.spaceId}.${extension}"`,
    Trailer: exportRowsTrailer,
  });
  async function* chunks(): AsyncGenerator<string> {
    if (!first.done) yield first.value;
    yield* pages;
    if (format !== 'csv') yield `${JSON.stringify({ exportedRows: rows })}\n`;
    response.addTrailers({ [exportRowsTrailer]: String(rows) });
  }
  await pipeline(Readable.from(chunks()), response);
}

async function* toText(
  store: SpaceStore,
  filter: ExportQuery['filter'],
  count: (rows: number) => void,
): AsyncGenerator<string> {
  for await (const lines of store.events.exportTexts(filter)) {
    count(lines.length);
    yield lines.map((line) => `${line}\n`).join('');
  }
}

async function* toColumns(
  store: SpaceStore,
  { format, filter }: ExportQuery,
  count: (rows: number) => void,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvRecord(csvColumns);
  const toLine = format === 'csv' ? toRecord : (event: ExportedEvent) => `${JSON.stringify(event)}\n`;
  for await (const events of store.events.exportEvents(filter)) {
    count(events.length);
    yield events.map(toLine).join('');
  }
}

/** In the order in which they are written. */
const csvColumns = [
  ...(['id', 'type', 'state', 'name', 'source', 'traceId', 'threadId', 'agentId', 'agentGroupId'] as const),
  ...(['userId', 'startTimeMs', 'endTimeMs', 'durationMs', 'inputTokens', 'outputTokens'] as const),
  ...(['totalTokens', 'errorCode', 'errorHttpStatus', 'errorMessage', 'inputPreview'] as const),
  ...(['outputPreview', 'receivedAt', 'flags', 'attributes'] as const),
] satisfies (keyof ExportedEvent)[];

function toRecord(event: ExportedEvent): string {
  return csvRecord(
    csvColumns.map((name) => {
      if (name === 'flags') return event.flags.join(' ');
      if (name === 'attributes') return event.attributes === null ? null : JSON.stringify(event.attributes);
      return event[name];
    }),
  );
}
