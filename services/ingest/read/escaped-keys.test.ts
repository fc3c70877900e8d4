import { beforeEach, expect, test } from 'vitest';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { type BatchEncoding, unlimited } from './batch-reader.ts';
import { createBatchReaders } from './batch-readers.ts';

/** One client's key must not change how another client's key is read (event/json/parse-escaped-keys.ts). */

const readers = createBatchReaders('weir', unlimited);
const encodings = ['json', 'protobufJson'] as const satisfies BatchEncoding[];

/** V8 caches keys for the life of the process: each test uses another first key. */
let first: string;
let tests = 0;
beforeEach(() => {
  first = `first${tests++}`;
});

/** An object after which JSON.parse reads an escaped key that follows `first` as a back-slash. */
const poison = () => `{"${first}":0,"\\\\":0}`;

/** An event with additional properties named `first` and é, in ASCII with escapes, as Python writes them. */
const eventWith = (other: Record<string, unknown>) =>
  JSON.stringify(llmEvent({ additionalProperties: { [first]: 1, HERE: 2 }, ...other })).replace(
    'HERE',
    '\\u00e9',
  );

/** The event in the form of the encoding. In protobuf's JSON the payload is a member of the event. */
const inEncoding = (encoding: BatchEncoding, event: string) => {
  if (encoding === 'json') return event;
  const { type, properties, status, ...common } = JSON.parse(event.replace('\\u00e9', 'HERE'));
  return JSON.stringify({ ...common, status: { state: 'STATE_OK' }, ...properties }).replace(
    'HERE',
    '\\u00e9',
  );
};
const bodyOf = (encoding: BatchEncoding, ...events: string[]) =>
  Buffer.from(`{"events":[${events.map((event) => inEncoding(encoding, event)).join()}]}`);

/** The names of the additional properties of a batch's last event. */
function namesRead(encoding: BatchEncoding, ...events: string[]): string[] {
  const { attributes } = readers[encoding](bodyOf(encoding, ...events)).projection.columns;
  const last = attributes.slice(attributes.lastIndexOf('"{') + 1, -1);
  return [...last.replaceAll('\\"', '"').matchAll(/"([^"]*)":/g)].map(([, name = '']) => name);
}

test.each(encodings)("%s: a key of another client's batch", (encoding) => {
  JSON.parse(poison());
  expect(namesRead(encoding, eventWith({}))).toEqual([first, 'é']);
});

test.each(encodings)('%s: a key of an earlier event of the batch', (encoding) => {
  const poisoning = JSON.stringify(llmEvent({ additionalProperties: { HERE: 0 } })).replace(
    '{"HERE":0}',
    poison(),
  );
  expect(namesRead(encoding, poisoning, eventWith({}))).toEqual([first, 'é']);
});

test('json: a key outside of the events, or in the same event', () => {
  const event = eventWith({ unknown: 'HERE' }).replace('"HERE"', poison());
  expect(namesRead('json', event)).toEqual([first, 'é']);
  readers.json(Buffer.from(`{"more":${poison()},"events":[${event}]}`));
  expect(namesRead('json', eventWith({}))).toEqual([first, 'é']);
});

test('json: details of an invalid batch name the key that was sent', () => {
  JSON.parse(poison());
  const body = bodyOf(
    'json',
    eventWith({}).replace('é":2', 'é":null').replace('\\u00e9":2', '\\u00e9":null'),
  );
  expect(() => readers.json(body)).toThrow('additionalProperties["é"] must be a string or a number');
});
