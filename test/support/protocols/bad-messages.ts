import { toolEvent } from '../../../harness/fixtures/events.ts';
import { toRequest } from './message.ts';

/** Invalid protobuf messages, written by hand because no library produces them. */

function uvarint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...uvarint(Math.floor(value / 128))];
}
export function varint(value: number, number: number): Buffer {
  return Buffer.from([...uvarint(number * 8), ...uvarint(value)]);
}
export function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...uvarint(number * 8 + 2), ...uvarint(bytes.length)]), bytes]);
}
function double(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([Buffer.from(uvarint(number * 8 + 1)), bytes]);
}
export function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}
/** A batch with one event, to which these bytes are appended. */
function eventWith(...more: Buffer[]): Buffer {
  const event = Buffer.from(toRequest([toolEvent()]));
  let at = 1;
  while ((event[at] ?? 0) > 127) at += 1;
  return field(1, Buffer.concat([event.subarray(at + 1), ...more]));
}
/** An event whose tool has this google.protobuf.Value as input. */
function inputOf(value: Buffer): Buffer {
  return eventWith(field(11, field(2, value)));
}
function nestedLists(levels: number): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < levels; level++) {
    const head = Buffer.from([0x0a, ...uvarint(length)]);
    const value = Buffer.from([0x32, ...uvarint(head.length + length)]);
    parts.unshift(value, head);
    length += value.length + head.length;
  }
  return Buffer.concat(parts);
}

/** Bytes that are not valid messages. */
export const malformed: Record<string, Buffer> = {
  'half of a tag': Buffer.from([0x8a]),
  'a tag without its field': Buffer.from([0x0a]),
  'a field longer than the message': Buffer.from([0x0a, 0x05, 0x01]),
  'a length of 4 GiB': Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  'a varint without end': Buffer.alloc(50, 0xff),
  'a length that is a varint without end': Buffer.from([0x0a, ...Array(20).fill(0xff)]),
  'field 0': field(0, 'x'),
  'wire type 6': Buffer.from([0x0e, 0x00]),
  'wire type 7': Buffer.from([0x0f, 0x00]),
  'the end of a group that did not begin': Buffer.from([0x0c]),
  'a group without end': Buffer.from([0x0b, 0x10, 0x01]),
  'a group that ends as another': Buffer.from([0x0b, 0x14]),
  '100,000 groups in one another': Buffer.alloc(100_000, 0x0b),
  'a double that is cut off': Buffer.from([0x0a, 0x03, 0x19, 0x00, 0x00]),
  'an id that is no UTF-8': field(1, field(1, Buffer.from([0xff, 0xfe]))),
  'a surrogate as UTF-8': field(1, field(1, Buffer.from([0xed, 0xa0, 0x80]))),
  'an overlong slash': field(1, field(1, Buffer.from([0xc0, 0xaf]))),
  'a key that is no UTF-8': eventWith(
    field(9, field(1, Buffer.concat([field(1, Buffer.from([0xff])), field(2, double(2, 1))]))),
  ),
  'a nested field longer than its message': field(1, Buffer.from([0x32, 0x05, 0x08])),
  'random text': Buffer.from('{"events":[]}'),
};

/** Valid messages that are not valid batches. */
export const invalid: Record<string, Buffer> = {
  'an empty event': field(1, ''),
  'an event of wrong wire types': field(1, Buffer.concat([varint(5, 1), field(3, 'x'), double(6, 1)])),
  'a Value without a kind': inputOf(Buffer.alloc(0)),
  'an entry without a value': eventWith(field(9, field(1, field(1, 'key')))),
  'a Value of NaN': inputOf(double(2, Number.NaN)),
  'a Value of Infinity': inputOf(double(2, Number.POSITIVE_INFINITY)),
  'a time of NaN': eventWith(double(3, Number.NaN)),
  'a duration of -Infinity': eventWith(double(5, Number.NEGATIVE_INFINITY)),
  'tokens of NaN': eventWith(field(10, field(4, double(1, Number.NaN)))),
  'an unknown state': eventWith(field(6, varint(77, 1))),
  'an additional property that nests': eventWith(
    field(9, field(1, Buffer.concat([field(1, 'k'), field(2, field(6, ''))]))),
  ),
  '513 lists in one another': inputOf(nestedLists(513)),
  '20,000 lists in one another': inputOf(nestedLists(20_000)),
};
