import { isUtf8 } from 'node:buffer';
import type { ErrorId } from '../../event/errors.ts';
import { skipSpace, skipValue } from '../../event/json/scan.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { messageOf } from '../../platform/thrown.ts';
import { bodyOverheadBytes, type FileEvent } from './body.ts';
import { type ContentOptions, openFileContent } from './file-content.ts';
import { type Line, readLines } from './lines.ts';

/** A line that cannot be sent, and the error that ingest would answer with. */
export interface BadLine {
  /** The number of the line, or of the request in a file of spans, from 1. */
  position: number;
  id: ErrorId;
  details: string;
}

export interface EventFileOptions extends ContentOptions {
  /** Skips lines up to this one without examining them. */
  afterLine?: number | undefined;
}

type Fault = Omit<BadLine, 'position'>;

const openBrace = 0x7b;
const byteOrderMark = Buffer.from('\ufeff');

/**
 * Opens an NDJSON file of events, plain or gzip-compressed (detected by its first bytes), which is read while
 * its events are iterated, and then closed. Blank lines are skipped. With `isReused` an event is valid until
 * the next. The events are in the order of the file, byte for byte.
 * @param onBadLine called for each line that cannot be sent; no line is dropped silently.
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function openEventFile(
  path: string,
  onBadLine: (line: BadLine) => void,
  { afterLine = 0, isReused }: EventFileOptions = {},
) {
  const { sizeBytes, bytesRead, chunks } = await openFileContent(path, { isReused });
  return { sizeBytes, bytesRead, events: readEvents(chunks, onBadLine, afterLine) };
}

async function* readEvents(
  content: AsyncIterable<Buffer>,
  onBadLine: (line: BadLine) => void,
  afterLine: number,
): AsyncGenerator<FileEvent, void, void> {
  let lines = 0;
  try {
    for await (const line of readLines(content, bodyBytesMax - bodyOverheadBytes)) {
      lines = line.number;
      if (line.number <= afterLine) continue;
      const event = withoutByteOrderMark(line);
      if (event !== undefined && isBlank(event)) continue;
      const bad = event === undefined ? tooLong : findFault(event);
      if (bad !== undefined)
        onBadLine({ ...bad, position: line.number, details: `Line ${line.number}: ${bad.details}` });
      else if (event !== undefined) yield { line: line.number, bytes: event };
    }
  } catch (error) {
    // Reported, not thrown: events before the end of a truncated archive were already yielded.
    onBadLine({
      position: lines + 1,
      id: 'invalid_request_body',
      details: `After line ${lines} the file cannot be read: ${messageOf(error)}.`,
    });
  }
}

const tooLong: Fault = {
  id: 'batch_too_large',
  details: 'the event does not fit into a request of 4 MiB. It was not sent.',
};

/**
 * Rejects a line that would change the rest of its batch: `{},{}` would be two events, `{}],"events":[{}`
 * would replace earlier ones. Other mistakes are left to ingest: parsing took a third of the sender's CPU.
 */
function findFault(line: Buffer): Fault | undefined {
  if (!isUtf8(line)) return { id: 'invalid_request_body', details: 'it is not UTF-8. It was not sent.' };
  if (isOneObject(line)) return undefined;
  return isJson(line)
    ? {
        id: 'invalid_event_batch',
        details: 'it is not a JSON object, or it is nested too deep. It was not sent.',
      }
    : { id: 'invalid_request_body', details: 'it is not valid JSON. It was not sent.' };
}

/** Whether the line is exactly one object by its braces and strings; its inside may still be invalid. */
function isOneObject(line: Buffer): boolean {
  const start = skipSpace(line, 0);
  try {
    return line[start] === openBrace && skipSpace(line, skipValue(line, start)) === line.length;
  } catch {
    return false;
  }
}

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString());
    return true;
  } catch {
    return false;
  }
}

function withoutByteOrderMark({ number, bytes }: Line): Buffer | undefined {
  const marked = number === 1 && bytes?.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return marked ? bytes?.subarray(byteOrderMark.length) : bytes;
}

function isBlank(line: Buffer): boolean {
  return line.length < 256 && line.toString('latin1').trim() === '';
}
