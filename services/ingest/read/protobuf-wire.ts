import { isUtf8 } from 'node:buffer';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { CostlyBatchError } from './batch-reader.ts';
import { NameLists } from './name-lists.ts';

/** A message violates protobuf's wire format. */
export class MalformedMessageError extends Error {
  override name = 'MalformedMessageError';
}

/** Reads protobuf's wire format from a buffer, up to `fieldsMax` fields. */
export class WireReader extends BinaryReader {
  readonly source: Buffer;
  /** The names of attributes that its messages have. */
  readonly names: NameLists;
  #fieldsLeft: number;

  /** @param names that of another reader of `source`. */
  constructor(source: Buffer, fieldsMax: number, names = new NameLists(source)) {
    super(source);
    this.source = source;
    this.names = names;
    this.#fieldsLeft = fieldsMax;
  }

  /** Reads the tag of the next field. @throws CostlyBatchError after `fieldsMax` tags. */
  nextTag(): number {
    if (--this.#fieldsLeft < 0) throw new CostlyBatchError();
    return this.uint32();
  }
}

/** Skips an unknown field. @throws MalformedMessageError for the field number 0, which protobuf reserves. */
export function skipField(reader: WireReader, tag: number): void {
  const number = tag >>> 3;
  if (number === 0) throw new MalformedMessageError('a field has the number 0');
  // The library's `skip` makes a view of what it skips, which takes longer than reading a short text.
  if ((tag & 7) === WireType.LengthDelimited) reader.pos = readEnd(reader, reader.len);
  else reader.skip(tag & 7, number);
}

/** Reads the length of a length-delimited field. @returns the position after the field. */
export function readEnd(reader: WireReader, messageEnd: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > messageEnd) throw new MalformedMessageError('a field is longer than its message');
  return end;
}

/**
 * Reads a string. Most strings are short, and for those Buffer's decoder is twice as fast as TextDecoder. It
 * replaces invalid UTF-8 by U+FFFD, so a string with that character is checked.
 * @throws MalformedMessageError when it is not UTF-8.
 */
export function readString(reader: WireReader, messageEnd: number): string {
  const start = reader.pos;
  const end = readEnd(reader, messageEnd);
  const { source } = reader;
  const text = source.toString('utf8', reader.pos, end);
  if (text.includes('\uFFFD') && !isUtf8(source.subarray(reader.pos, end))) {
    throw new MalformedMessageError(`the string at byte ${start} is not UTF-8`);
  }
  reader.pos = end;
  return text;
}

/** @throws MalformedMessageError unless the message was read exactly to its end. */
export function checkEnd(reader: WireReader, end: number): void {
  if (reader.pos !== end) throw new MalformedMessageError('a message ends within a field');
}
