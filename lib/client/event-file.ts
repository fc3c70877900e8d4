import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ErrorId } from '../errors.ts';
import { skipSpace, skipValue } from '../json/scan.ts';
import { bodyBytesMax } from '../limits.ts';
import { bodyOverheadBytes, type FileEvent } from './body.ts';
import { type Line, readLines } from './lines.ts';

/** A line that cannot be sent, and the error that ingest would answer to it. */
export interface BadLine {
  id: ErrorId;
  details: string;
}

/** A file of events that is open. */
export interface EventFile {
  sizeBytes: number;
  /** How many bytes of the file were read so far. */
  bytesRead(): number;
  /** The events in order, each as its line has it, byte for byte. */
  events: AsyncIterable<FileEvent>;
}

const openBrace = 0x7b;
const byteOrderMark = Buffer.from('\ufeff');
const gzipMagic = Buffer.from([0x1f, 0x8b]);
/** How much is read at a time: a quarter of it costs a large file a sixth more CPU, for reads and their garbage. */
const chunkBytes = 1024 * 1024;

/**
 * Opens an NDJSON file of events, gzip-compressed or not, which its first bytes tell. Blank lines are passed over.
 * The file is read as its events are taken, and closed after the last one.
 *
 * @param onBadLine called for each line that cannot be sent: none is dropped without a word.
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function openEventFile(path: string, onBadLine: (line: BadLine) => void): Promise<EventFile> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const magic = Buffer.alloc(gzipMagic.length);
    if (size > 0) await file.read({ buffer: magic, position: 0 });
    const raw = file.createReadStream({ start: 0, highWaterMark: chunkBytes });
    const content = magic.equals(gzipMagic) ? unpack(raw) : raw;
    return { sizeBytes: size, bytesRead: () => raw.bytesRead, events: readEvents(content, onBadLine) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* readEvents(
  content: AsyncIterable<Buffer>,
  onBadLine: (line: BadLine) => void,
): AsyncGenerator<FileEvent, void, void> {
  let lines = 0;
  try {
    for await (const line of readLines(content, bodyBytesMax - bodyOverheadBytes)) {
      lines = line.number;
      const event = withoutMark(line);
      if (event !== undefined && isBlank(event)) continue;
      const bad = event === undefined ? tooLong : findFault(event);
      if (bad !== undefined) onBadLine({ ...bad, details: `Line ${line.number}: ${bad.details}` });
      else if (event !== undefined) yield { line: line.number, bytes: event };
    }
  } catch (error) {
    // A truncated archive must not take back what was sent before its end.
    const reason = error instanceof Error ? error.message : String(error);
    onBadLine({
      id: 'invalid_request_body',
      details: `After line ${lines} the file cannot be read: ${reason}.`,
    });
  }
}

function unpack(raw: Readable): AsyncIterable<Buffer> {
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  raw.once('error', (error) => unpacked.destroy(error));
  return raw.pipe(unpacked);
}

const tooLong: BadLine = {
  id: 'batch_too_large',
  details: 'the event does not fit into a request of 4 MiB. It was not sent.',
};

/**
 * Holds back a line whose braces would reach into its neighbours: `{},{}` would be two events, `{}],"events":[{}`
 * would replace those before it. What passes can spoil nothing but its own event, and ingest finds that: parsing every
 * line here too cost a third of the sender's CPU.
 */
function findFault(line: Buffer): BadLine | undefined {
  if (!isUtf8(line)) return { id: 'invalid_request_body', details: 'it is not UTF-8. It was not sent.' };
  if (isOneObject(line)) return undefined;
  return isJson(line)
    ? { id: 'invalid_event_batch', details: 'it is no JSON object, or one nested too deep. It was not sent.' }
    : { id: 'invalid_request_body', details: 'it is not valid JSON. It was not sent.' };
}

/** Whether the line begins with an object that ends where the line does; inside, it may be damaged. */
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

function withoutMark({ number, bytes }: Line): Buffer | undefined {
  const marked = number === 1 && bytes?.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return marked ? bytes?.subarray(byteOrderMark.length) : bytes;
}

function isBlank(line: Buffer): boolean {
  return line.length < 256 && line.toString('latin1').trim() === '';
}
