import { randomBytes, randomUUID } from 'node:crypto';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { bodyBytesMax, eventsPerBatchMax } from '../../platform/limits.ts';

/** Payloads that cost as much as 4 MiB can: valid batches and invalid ones. */

/** The encoding of a batch: JSON of the HTTP API, protobuf's JSON, or protobuf. */
export type PayloadForm = 'json' | 'protobufJson' | 'protobuf';

/** Creates a payload on demand: all payloads together would fill the memory of the sender. */
export type Payload = () => Buffer;

const room = bodyBytesMax - 4 * 1024;
const times = (unit: string, bytes = room) => unit.repeat(Math.floor(bytes / unit.length));
const keys = (key: (index: number) => string) => {
  const members: string[] = [];
  for (let bytes = 0, index = 0; bytes < room - 40; index++)
    bytes += members.push(key(index)) && key(index).length + 1;
  return members.join();
};
const inCharacters = (character: (byte: number) => string, bytes: number) =>
  Array.from(randomBytes(bytes), character).join('');
const printable = (byte: number) => String.fromCharCode(35 + (byte % 57));

/** JSON values that fill a payload's free field. */
const values: Record<string, () => string> = {
  'empty lists': () => `[[]${times(',[]')}]`,
  'empty objects': () => `[{}${times(',{}')}]`,
  'nested lists': () => `[0${times(`,${'['.repeat(490)}${']'.repeat(490)}`)}]`,
  'brackets without end': () => times('['),
  'brackets too deep': () => times('[', room / 2) + times(']', room / 2),
  numbers: () => `[0${times(',1e20')}]`,
  'many keys': () => `{${keys((index) => `"k${index.toString(36)}":0`)}}`,
  'escaped keys': () => `{${keys((index) => `"\\u006b${index.toString(36)}":0`)}}`,
  'one string': () => `"${times('x')}"`,
  'random text': () => `"${inCharacters(printable, room)}"`,
  'text of escapes': () => `"${times('\\n')}"`,
  'control characters': () => `"${times('\\u0001')}"`,
  'characters beyond Latin-1': () => `"${'\u4e2d'.repeat(room / 3)}"`,
  'one key': () => `{"${times('k')}":0}`,
  'one number': () => times('1'),
};

const event = (id: unknown = randomUUID(), value = '"HERE"') =>
  JSON.stringify(toolEvent({ id, properties: { tool: { name: 'abuse', input: 'HERE' } } })).replace(
    '"HERE"',
    () => value,
  );

/** In protobuf's JSON the state is an enum, and the payload is a field of the event. */
const asProtobufJson = (json: string) =>
  json
    .replace('"type":"tool",', '')
    .replace('"state":"ok"', '"state":"STATE_OK"')
    .replace(/"properties":\{("tool":.*)\}\}$/s, '$1}');

function jsonPayloads(form: 'json' | 'protobufJson'): Record<string, Payload> {
  const one = form === 'json' ? event : (...args: Parameters<typeof event>) => asProtobufJson(event(...args));
  const batch = (...events: string[]) => Buffer.from(`{"events":[${events.join()}]}`);
  const filled = Object.entries(values).flatMap(([name, value]): [string, Payload][] => [
    [name, () => batch(one(randomUUID(), value()))],
    [`${name}, and an invalid event`, () => batch(one(randomUUID(), value()), one('no id'))],
  ]);
  const many = (count: number, value: () => string) => () =>
    batch(...Array.from({ length: count }, () => one(randomUUID(), value())));
  return {
    ...Object.fromEntries(filled),
    'one small event': many(1, () => '0'),
    '500 events': many(eventsPerBatchMax, () => `"${inCharacters(printable, 7_000)}"`),
    '501 events': many(eventsPerBatchMax + 1, () => '0'),
    'a million events': () => Buffer.from(`{"events":[0${times(',0')}]}`),
    'keys beside the events': () => Buffer.from(`{${keys((index) => `"k${index}":0`)},"events":[]}`),
    'many members named events': () => Buffer.from(`{"events":[]${times(',"events":[]')}}`),
    'not UTF-8': () => Buffer.alloc(room, 0xff),
    'random bytes': () => randomBytes(room),
    'no bytes': () => Buffer.alloc(0),
    'too many bytes': () => batch(one(randomUUID(), `"${'x'.repeat(bodyBytesMax + 1)}"`)),
  };
}

/** Fields of weir.ingest.v1 and google.protobuf: number of the message's field, by name. */
const fields = {
  events: 1,
  tool: 11,
  toolInput: 2,
  valueString: 3,
  valueNumber: 2,
  valueStruct: 5,
  valueList: 6,
};

const lengthDelimited = (field: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
const text = (field: number, value: string) => lengthDelimited(field, Buffer.from(value));
const double = (field: number, value: number) =>
  new BinaryWriter().tag(field, WireType.Bit64).double(value).finish();
const repeated = (unit: Uint8Array, bytes = room) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);

/** A tool event of the RPC whose payload's input is this google.protobuf.Value. */
function protobufEvent(value: Uint8Array, id: string = randomUUID()): Uint8Array {
  const instrumentation = Buffer.concat([text(1, 'weir'), text(2, 'abuse'), text(3, 'abuse')]);
  return Buffer.concat([
    text(1, id),
    double(3, 1),
    double(4, 2),
    double(5, 1),
    lengthDelimited(6, Buffer.from([8, 1])),
    lengthDelimited(7, instrumentation),
    lengthDelimited(8, Buffer.alloc(0)),
    lengthDelimited(9, Buffer.alloc(0)),
    lengthDelimited(fields.tool, Buffer.concat([text(1, 'abuse'), lengthDelimited(fields.toolInput, value)])),
  ]);
}

const list = (items: Uint8Array) => lengthDelimited(fields.valueList, items);
const item = (value: Uint8Array) => lengthDelimited(1, value);
const entry = (key: string, value: Uint8Array) =>
  lengthDelimited(1, Buffer.concat([text(1, key), lengthDelimited(2, value)]));
const nested = (levels: number) => {
  let value: Uint8Array = lengthDelimited(fields.valueStruct, Buffer.alloc(0));
  for (let level = 0; level < levels; level++) value = list(item(value));
  return value;
};

/** google.protobuf.Values that fill a payload's free field. */
const protobufValues: Record<string, () => Uint8Array> = {
  'empty lists': () => list(repeated(item(list(Buffer.alloc(0))))),
  'empty objects': () => list(repeated(item(lengthDelimited(fields.valueStruct, Buffer.alloc(0))))),
  'nested lists': () => list(repeated(item(nested(100)))),
  'lists too deep': () => nested(2_000),
  numbers: () => list(repeated(item(double(fields.valueNumber, 1e20)))),
  'many keys': () => {
    const zero = double(fields.valueNumber, 0);
    const entries = Array.from({ length: 150_000 }, (_, index) => entry(`k${index.toString(36)}`, zero));
    return lengthDelimited(fields.valueStruct, Buffer.concat(entries));
  },
  'one string': () => text(fields.valueString, times('x')),
  'random text': () => text(fields.valueString, inCharacters(printable, room)),
  'control characters': () => text(fields.valueString, '\u0001'.repeat(room)),
  'random control characters': () =>
    text(
      fields.valueString,
      inCharacters((byte) => String.fromCharCode(byte < 128 ? byte % 32 : byte % 128), room),
    ),
  'characters beyond Latin-1': () => text(fields.valueString, '\u4e2d'.repeat(room / 3)),
  'one key': () => lengthDelimited(fields.valueStruct, entry(times('k'), double(fields.valueNumber, 0))),
  'no value': () => Buffer.alloc(0),
  'not UTF-8': () => lengthDelimited(fields.valueString, Buffer.alloc(room, 0xff)),
};

function protobufPayloads(): Record<string, Payload> {
  const batch = (...events: Uint8Array[]) =>
    Buffer.concat(events.map((one) => lengthDelimited(fields.events, one)));
  const filled = Object.entries(protobufValues).flatMap(([name, value]): [string, Payload][] => [
    [name, () => batch(protobufEvent(value()))],
    [
      `${name}, and an invalid event`,
      () => batch(protobufEvent(value()), protobufEvent(Buffer.alloc(0), 'no id')),
    ],
  ]);
  const many = (count: number, value: () => Uint8Array) => () =>
    batch(...Array.from({ length: count }, () => protobufEvent(value())));
  const small = () => text(fields.valueString, 'x');
  return {
    ...Object.fromEntries(filled),
    'one small event': many(1, small),
    '500 events': many(eventsPerBatchMax, () => text(fields.valueString, inCharacters(printable, 7_000))),
    '501 events': many(eventsPerBatchMax + 1, small),
    'a million events': () => repeated(lengthDelimited(fields.events, Buffer.alloc(0))),
    'unknown fields': () => repeated(lengthDelimited(99, Buffer.alloc(0))),
    'random bytes': () => randomBytes(room),
    'no bytes': () => Buffer.alloc(0),
    'too many bytes': () => Buffer.alloc(bodyBytesMax + 1),
  };
}

export const payloads: Record<PayloadForm, Record<string, Payload>> = {
  json: jsonPayloads('json'),
  protobufJson: jsonPayloads('protobufJson'),
  protobuf: protobufPayloads(),
};
