import { randomBytes } from 'node:crypto';
import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { attributesCharsMax, columnCharsMax, previewCharsMax } from '../../../event/limits.ts';
import { IngestEventsRequestSchema } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { toolEvent } from '../../../harness/fixtures/events.ts';
import { bodyBytesMax, eventsPerBatchMax } from '../../../platform/limits.ts';
import type { BatchEncoding } from '../../../services/ingest/read/batch-reader.ts';
import { toRequest } from './message.ts';

/** Valid batches that take as many bytes in the queue as possible. */

type Json = Record<string, unknown>;

export interface HeavyBatch {
  name: string;
  encoding: BatchEncoding;
  events: Json[];
  bytes: Buffer;
}

export function encodeBatch(encoding: BatchEncoding, events: readonly Json[]): Buffer {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ events }));
  const message = toRequest(events);
  if (encoding === 'protobuf') return Buffer.from(message);
  return Buffer.from(toJsonString(IngestEventsRequestSchema, fromBinary(IngestEventsRequestSchema, message)));
}

/** The heaviest batches of an encoding. */
export function heaviestBatches(encoding: BatchEncoding): HeavyBatch[] {
  const batches: Record<string, Json[]> = { 'large columns': fillEvents(encoding) };
  if (encoding === 'protobuf') batches['control characters'] = [controlCharacters()];
  return Object.entries(batches).map(([name, events]) => {
    const bytes = encodeBatch(encoding, events);
    if (bytes.length > bodyBytesMax || bytes.length < 0.98 * bodyBytesMax) {
      throw new Error(`${name} as ${encoding}: ${bytes.length} bytes`);
    }
    return { name, encoding, events, bytes };
  });
}

/**
 * 500 events with the largest columns, filled up to 4 MiB with text that does not compress.
 *
 * U+0000 takes one byte in protobuf and three in a column, where it becomes U+FFFD. In JSON it takes six
 * bytes, so fewer fit and random text gives a larger message. A quote takes one byte in protobuf, two in
 * JSON, and four in the column of additional properties, which is JSON inside an array literal.
 */
function fillEvents(encoding: BatchEncoding): Json[] {
  const make = (fillChars: number) =>
    Array.from({ length: eventsPerBatchMax }, () => {
      const text = encoding === 'protobuf' ? '\0'.repeat(columnCharsMax) : randomText(columnCharsMax);
      return toolEvent({
        startTimeMs: -8.64e15 / 1.1,
        status: { state: 'error', error: { code: text, httpStatus: text, message: text } },
        instrumentation: { vendor: 'weir', source: text, sourcePackage: '' },
        context: { threadId: text, agentId: text, agentGroupId: text, userId: text },
        additionalProperties: { a: '"\\'.repeat((attributesCharsMax - 8) / 4) },
        properties: {
          tool: { name: text, input: text.slice(0, previewCharsMax), output: randomText(fillChars) },
        },
      });
    });
  const room = bodyBytesMax - encodeBatch(encoding, make(0)).length;
  // The length prefixes around the text grow too.
  return make(Math.floor(room / eventsPerBatchMax) - 16);
}

/**
 * An event of 4 MiB of protobuf whose JSON compresses to 5.3 MB: half of its characters are escaped as
 * \u00XX.
 */
function controlCharacters(): Json {
  const output = Array.from(randomBytes(bodyBytesMax - 1_000), (byte) =>
    byte < 128 ? String.fromCharCode(byte % 32) : printable(byte),
  ).join('');
  return toolEvent({ properties: { tool: { name: 'echo', output } } });
}

function randomText(chars: number): string {
  return Array.from(randomBytes(chars), printable).join('');
}

/** ASCII characters that take one byte in every encoding. */
function printable(byte: number): string {
  const char = String.fromCharCode(32 + (byte % 95));
  return char === '"' || char === '\\' ? ' ' : char;
}
