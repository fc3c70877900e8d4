import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import {
  type ExportedEvent,
  exportEvents,
  exportTexts,
  exportWholeEvents,
  type WholeExportedEvent,
} from '../events/export-rows.ts';
import { eventFilter, openFilter, sealed } from '../filter-input.ts';
import { refusal } from '../refusal.ts';
import { mapInSlices } from '../slices.ts';
import type { SpaceData } from '../space-data.ts';
import { csvRecord } from './csv.ts';
import {
  checkDownload,
  type DownloadDependencies,
  downloadHeaders,
  parsePathId,
  sendDownloadFailure,
} from './download.ts';
import { downloadPageMsMax } from './limits.ts';
import { sendPages } from './paged-response.ts';
import { toParquet } from './parquet.ts';

export const exportPath = '/export/';

/** A response trailer. */
const exportRowsTrailer = 'Weir-Export-Rows';

export const exportFormats = {
  /** The columns of each event, one JSON object per line; the last line is the number of events. */
  ndjson: { type: 'application/x-ndjson', extension: 'ndjson' },
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  /** Typed columns and the event as sent, for DuckDB, pandas and others. */
  parquet: { type: 'application/vnd.apache.parquet', extension: 'parquet' },
  /** The events as sent, one per line; the last line is the number of events. */
  events: { type: 'application/x-ndjson', extension: 'events.ndjson' },
} as const;

const formatNames = Object.keys(exportFormats) as (keyof typeof exportFormats)[];

const query = z.object({
  format: z.enum(formatNames),
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
  sealed: sealed.optional(),
});

type ExportQuery = Omit<z.infer<typeof query>, 'sealed'>;

/**
 * `GET /export/:space?format=…` with `filter=` or `sealed=` (of `events.sealFilter`): all its events, newest
 * first, as an attachment, and their number. Pages are read as fast as the client consumes them, each after a
 * check of access. An error resets the connection.
 */
export async function sendExport(
  { services, slots, log }: DownloadDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = new URL(request.url ?? '', 'http://localhost');
    const spaceId = parsePathId(url.pathname.slice(exportPath.length));
    const asking = { request, response, spaceId };
    const { caller, checkAccess } = await checkDownload(services, asking, 'viewer');
    const { sealed, ...plain } = parseQuery(url.searchParams);
    const asked =
      sealed === undefined ? plain : { ...plain, filter: openFilter(services.filterSeal, spaceId, sealed) };
    using _slot = slots.take(caller, response);
    const space = services.openSpace(caller);
    const pages = await openPages(space, asked, response);
    await sendPages({ response, pages, checkAccess, pageMsMax: downloadPageMsMax });
  } catch (thrown) {
    if (!response.destroyed) sendDownloadFailure({ request, response, log }, thrown);
  }
}

function parseQuery(parameters: URLSearchParams): z.infer<typeof query> {
  const parsed = query.safeParse(Object.fromEntries(parameters));
  if (parsed.success) return parsed.data;
  throw refusal('BAD_REQUEST', 'The query is not valid.', parsed.error);
}

/** Sends the headers. @returns the pages of the body. */
async function openPages(
  space: SpaceData,
  { format, filter }: ExportQuery,
  response: ServerResponse,
): Promise<AsyncIterable<string | Buffer>> {
  const { type, extension } = exportFormats[format];
  let rows = 0;
  const count = (added: number) => {
    rows += added;
  };
  const pages = toPages(space, { format, filter }, count);
  // Before the headers, so that an invalid filter is answered with a status.
  const first = await pages.next();
  response.writeHead(200, {
    ...downloadHeaders,
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="events-${space.spaceId}.${extension}"`,
    Trailer: exportRowsTrailer,
  });
  async function* chunks(): AsyncGenerator<string | Buffer> {
    if (!first.done) yield first.value;
    yield* pages;
    if (format === 'ndjson' || format === 'events') yield `${JSON.stringify({ exportedRows: rows })}\n`;
    response.addTrailers({ [exportRowsTrailer]: String(rows) });
  }
  return chunks();
}

function toPages(
  space: SpaceData,
  { format, filter }: ExportQuery,
  count: (rows: number) => void,
): AsyncGenerator<string | Buffer> {
  if (format === 'events') return toText(space, filter, count);
  if (format !== 'parquet') return toColumns(space, { format, filter }, count);
  async function* counted(): AsyncGenerator<WholeExportedEvent[]> {
    for await (const rows of exportWholeEvents(space, filter)) {
      count(rows.length);
      yield rows;
    }
  }
  return toParquet(counted());
}

async function* toText(
  space: SpaceData,
  filter: ExportQuery['filter'],
  count: (rows: number) => void,
): AsyncGenerator<string> {
  for await (const lines of exportTexts(space, filter)) {
    count(lines.length);
    yield (await mapInSlices(lines, (line) => `${line}\n`)).join('');
  }
}

async function* toColumns(
  space: SpaceData,
  { format, filter }: ExportQuery,
  count: (rows: number) => void,
): AsyncGenerator<string> {
  // Without the byte order mark Excel does not read UTF-8.
  if (format === 'csv') yield `\ufeff${csvRecord(csvColumns)}`;
  const toLine = format === 'csv' ? toRecord : (event: ExportedEvent) => `${JSON.stringify(event)}\n`;
  for await (const events of exportEvents(space, filter)) {
    count(events.length);
    yield (await mapInSlices(events, toLine)).join('');
  }
}

/** In output order. */
const csvColumns = [
  ...(['id', 'type', 'state', 'name', 'source', 'traceId', 'threadId', 'agentId', 'agentGroupId'] as const),
  ...(['userId', 'startTimeMs', 'endTimeMs', 'durationMs', 'inputTokens', 'outputTokens'] as const),
  ...(['totalTokens', 'errorCode', 'errorHttpStatus', 'errorMessage', 'inputPreview'] as const),
  ...(['outputPreview', 'receivedAt', 'flags', 'attributes', 'cacheReadTokens'] as const),
  ...(['cacheWriteTokens', 'cost', 'reasoningTokens', 'usageParts', 'priceClass', 'reportedCost'] as const),
  'notes',
] satisfies (keyof ExportedEvent)[];

function toRecord(event: ExportedEvent): string {
  return csvRecord(
    csvColumns.map((name) => {
      if (name === 'flags') return event.flags.join(' ');
      if (name === 'notes') return event.notes.length === 0 ? null : JSON.stringify(event.notes);
      const value = event[name];
      return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    }),
  );
}
