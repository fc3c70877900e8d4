import { otlpBodyBytesMax } from '../../platform/limits.ts';
import { messageOf } from '../../platform/thrown.ts';
import type { BadLine } from './event-file.ts';
import { openFileContent } from './file-content.ts';
import { readJsonObjects } from './json-objects.ts';

export interface SpanRequestBody {
  /** The request's number in the file, from 1: a line may hold several. */
  position: number;
  /** The line it begins in, from 1. */
  line: number;
  bytes: Buffer;
}

/** The beginning of every file of spans: exporters write this member first. */
const firstMember = /^\uFEFF?\s*\{\s*"resourceSpans"\s*:/;

/** @throws the error of node:fs when the file cannot be read. */
export async function isSpanFile(path: string): Promise<boolean> {
  const { chunks } = await openFileContent(path);
  for await (const chunk of chunks) return firstMember.test(chunk.toString('utf8', 0, 1024));
  return false;
}

/**
 * Opens a file of spans, plain or gzip-compressed: one request a line, as the Collector's file exporter
 * writes them, or concatenated requests of any layout. They are in the order of the file, byte for byte.
 * @param onBadLine called for each request that cannot be sent; none is dropped silently.
 * @param afterPosition requests up to this one are skipped.
 * @throws the error of node:fs when the file cannot be opened.
 */
export async function openSpanFile(path: string, onBadLine: (line: BadLine) => void, afterPosition = 0) {
  const { sizeBytes, bytesRead, chunks } = await openFileContent(path);
  return { sizeBytes, bytesRead, requests: readRequests(chunks, onBadLine, afterPosition) };
}

async function* readRequests(
  chunks: AsyncIterable<Buffer>,
  onBadLine: (line: BadLine) => void,
  afterPosition: number,
): AsyncGenerator<SpanRequestBody, void, void> {
  let lines = 0;
  let position = 0;
  try {
    for await (const { line, bytes } of readJsonObjects(chunks, otlpBodyBytesMax)) {
      lines = line;
      position += 1;
      if (position <= afterPosition) continue;
      if (bytes !== undefined) yield { position, line, bytes };
      else onBadLine({ position, id: 'batch_too_large', details: `Line ${line}: ${tooLong}` });
    }
  } catch (error) {
    onBadLine({
      position: position + 1,
      id: 'invalid_request_body',
      details: `After line ${lines} the file cannot be read: ${messageOf(error)}.`,
    });
  }
}

const tooLong = 'the request does not end, or does not fit into 16 MiB. It was not sent.';
