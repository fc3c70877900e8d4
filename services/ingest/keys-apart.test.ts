import { beforeEach, expect, test } from 'vitest';
import { compileBatchRules } from '../../lib/event/validate.ts';
import { llmEvent } from '../../test/support/events.ts';
import { createBatchReader } from './read-batch.ts';
import { unlimited } from './read-limits.ts';

/** A key of one client must not change how a key of another one is read (nodejs/node#63785). */

const readBatch = createBatchReader(compileBatchRules('weir'), unlimited);

/** The names of an event's additional properties, written as Python writes them: everything but ASCII escaped. */
const victim = (first: string) =>
  JSON.stringify({ events: [llmEvent({ additionalProperties: { [first]: 1, HERE: 2 } })] }).replace(
    'HERE',
    '\\u00e9',
  );

const names = (body: string) => Object.keys(JSON.parse(attributesOf(body)));
const attributesOf = (body: string) =>
  JSON.parse(`"${readBatch(Buffer.from(body)).projection.columns.attributes.slice(1, -1)}"`);

/** Each test has shapes of its own: what V8 has remembered stays remembered. */
let first: string;
let tests = 0;
beforeEach(() => {
  first = `first${tests++}`;
});

const poison = () => JSON.stringify({ [first]: [], '\\': 0 });
const inEvent = (key: string, json: string) =>
  JSON.stringify({ events: [llmEvent({ [key]: 'HERE' })] }).replace('"HERE"', json);

test.each<[string, () => unknown]>([
  ['of a good event', () => readBatch(Buffer.from(inEvent('unknown', poison())))],
  [
    'written as an escape',
    () => readBatch(Buffer.from(inEvent('unknown', poison().replace('\\\\', '\\u005C')))),
  ],
  ['of a bad event', () => readBatch(Buffer.from(inEvent('id', poison())))],
  ['beside the events', () => readBatch(Buffer.from(`{"more":${poison()},"events":[]}`))],
  ['of a body that is no batch', () => readBatch(Buffer.from(poison()))],
  [
    'of additional properties that Postgres cannot store',
    () => readBatch(Buffer.from(inEvent('additionalProperties', poison().replace('[]', '"\\u0000"')))),
  ],
])('a key %s leaves those of others alone', (_, send) => {
  try {
    send();
  } catch {
    // Refused or not: it was read.
  }
  expect(names(victim(first))).toEqual([first, 'é']);
});

test('V8 still does what this guards against', () => {
  JSON.parse(poison());
  expect(names(victim(first))).not.toEqual([first, 'é']);
});
