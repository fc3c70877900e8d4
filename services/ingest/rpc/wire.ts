import { isUtf8 } from 'node:buffer';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { CostlyBatchError } from '../read-limits.ts';

/** The bytes of a message are not what protobuf's wire format allows. */
export class MalformedMessage extends Error {
  override name = 'MalformedMessage';
}

/** Reads protobuf's wire format from a buffer. */
export class WireReader extends BinaryReader {
  readonly source: Buffer;
  #fieldsLeft: number;

  constructor(source: Buffer, fieldsMax: number) {
    super(source);
    this.source = source;
    this.#fieldsLeft = fieldsMax;
  }

  /**
   * The tag of the next field.
   *
   * @throws CostlyBatchError when it is one more than `fieldsMax`.
   */
  nextTag(): number {
    if (--this.#fieldsLeft < 0) throw new CostlyBatchError();
    return this.uint32();
  }
}

/**
 * Passes over a field that is not known.
 *
 * @throws MalformedMessage for a field 0, which no message can have.
 */
export function skipField(reader: WireReader, tag: number): void {
  const number = tag >>> 3;
  if (number === 0) throw new MalformedMessage('a field has no number');
  reader.skip(tag & 7, number);
}

/** The end of the length-delimited field that begins here, which lies within its message. */
export function readEnd(reader: WireReader, messageEnd: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > messageEnd) throw new MalformedMessage('a field is longer than its message');
  return end;
}

/**
 * Reads a string. node's own decoder is twice as fast as a TextDecoder on the short strings that messages are full of;
 * it puts U+FFFD in the place of what is no UTF-8, so there a closer look is needed.
 *
 * @throws MalformedMessage when it is not UTF-8.
 */
export function readString(reader: WireReader, messageEnd: number): string {
  const start = reader.pos;
  const end = readEnd(reader, messageEnd);
  const { source } = reader;
  const text = source.toString('utf8', reader.pos, end);
  if (text.includes('\uFFFD') && !isUtf8(source.subarray(reader.pos, end))) {
    throw new MalformedMessage(`the string at byte ${start} is not UTF-8`);
  }
  reader.pos = end;
  return text;
}

/** @throws MalformedMessage unless a message was read exactly to its end. */
export function checkEnd(reader: WireReader, end: number): void {
  if (reader.pos !== end) throw new MalformedMessage('a message ends within a field');
}
