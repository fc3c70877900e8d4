import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { projectEvents } from '../../lib/event/projection.ts';
import { compileBatchRules } from '../../lib/event/validate.ts';
import { bodyBytesMax, eventsPerBatchMax, jsonDepthMax } from '../../lib/limits.ts';
import { llmEvent, toolEvent } from '../../test/support/events.ts';
import { keyText, objectText, valueText } from '../../test/support/json-text.ts';
import { parseJson } from './parse.ts';
import { createBatchReader } from './read-batch.ts';
import { unlimited } from './read-limits.ts';

const readJson = createBatchReader(compileBatchRules('weir'), unlimited);
const readBatch = (bytes: Buffer) => readJson(bytes).projection;
const { validateBatch } = compileBatchRules('weir');
/** The plain way, which is the truth: the whole body at once. */
const readWhole = (bytes: Buffer) => projectEvents(validateBatch(parseJson(bytes)));

function outcomeOf(read: (bytes: Buffer) => unknown, bytes: Buffer): unknown {
  try {
    return read(bytes);
  } catch (error) {
    return String(error);
  }
}

function expectSame(text: string | Buffer): void {
  const bytes = Buffer.from(text as string);
  expect(outcomeOf(readBatch, bytes)).toEqual(outcomeOf(readWhole, bytes));
}

const anyEvent = fc.oneof(
  fc
    .constantFrom(llmEvent(), toolEvent(), llmEvent({ durationMs: 'x' }))
    .map((event) => JSON.stringify(event)),
  valueText('input', 'name').map((value) =>
    JSON.stringify(toolEvent({ properties: { tool: { input: 'HERE' } } })).replace('"HERE"', value),
  ),
  valueText('id', 'type'),
);
const eventsText = fc.array(anyEvent, { maxLength: 4 }).map((events) => `[${events.join(' ,\n')}]`);
const member = fc.oneof(
  fc.tuple(keyText('events'), eventsText),
  fc.tuple(fc.constantFrom('"more"', '"events "', '"\\""'), valueText('events')),
);
const body = objectText(fc.array(member, { maxLength: 3 }));

test('event by event and as a whole a body is read to the same', () => {
  fc.assert(fc.property(body, expectSame), { numRuns: 2_000 });
});

test('so is a body that is damaged anywhere', () => {
  const damage = fc.tuple(
    body,
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom('', '"', '{', ']', ',', '\\', '0', '\u0000', 'é'),
  );
  fc.assert(
    fc.property(damage, ([text, at, removed, added]) => {
      const start = at % (text.length + 1);
      expectSame(text.slice(0, start) + added + text.slice(start + removed));
    }),
    { numRuns: 4_000 },
  );
});

test.each([
  ['no bytes', ''],
  ['a byte order mark', `\uFEFF{"events":[${JSON.stringify(llmEvent())}]}`],
  ['another value behind it', `{"events":[${JSON.stringify(llmEvent())}]}0`],
  ['brackets that cross', `{"events":[${JSON.stringify(llmEvent()).slice(0, -1)}]}`],
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  [
    'a deep field beside the events',
    `{"events":[${JSON.stringify(llmEvent())}],"x":${'['.repeat(600)}${']'.repeat(600)}}`,
  ],
  ['a deep event', `{"events":[{"x":${'['.repeat(509)}${']'.repeat(509)}}]}`],
])('so is a body with %s', (_, text) => expectSame(text));

test('a good body is read event by event', () => {
  const events = [llmEvent(), toolEvent()];
  expect(readBatch(Buffer.from(JSON.stringify({ events }, null, 2)))).toEqual(
    readWhole(Buffer.from(JSON.stringify({ events }))),
  );
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** A batch of one event that holds this JSON: three levels, and the payload's own two. */
const batchWith = (json: string) =>
  JSON.stringify({ events: [toolEvent({ properties: { tool: { value: 'HERE' } } })] }).replace(
    '"HERE"',
    json,
  );
const levelsAround = 5;

test('512 levels are read, 513 are not, and brackets in strings are no levels', () => {
  const read = (json: string) => readBatch(Buffer.from(batchWith(json)));
  expect(read(nested(jsonDepthMax - levelsAround)).eventCount).toBe(1);
  expect(() => read(nested(jsonDepthMax - levelsAround + 1))).toThrow('nested deeper than 512 levels');
  expect(read(`["${'['.repeat(1_000)}","\\"${'[{'.repeat(1_000)}"]`).eventCount).toBe(1);
  expect(() => readBatch(Buffer.from(`{"events":[],"x":${nested(jsonDepthMax)}}`))).toThrow('nested deeper');
});

test.each([
  ['the whole body', '', '', 'must be a JSON object'],
  ['an event', '{"events":[', ']}', 'nested deeper'],
  ['a field beside the events', '{"events":[0],"x":', '}', 'nested deeper'],
  ['one of too many events', `{"events":[${'0,'.repeat(eventsPerBatchMax)}`, ']}', 'has 501 events'],
  ['a body with something behind it', '', '0', 'not valid JSON'],
])('brackets to the last byte never reach JSON.parse as %s', (_, before, after, expected) => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const free = bodyBytesMax - before.length - after.length;
  const body = Buffer.from(before + nested(Math.floor(free / 2)) + after);
  expect(outcomeOf(readBatch, body)).toContain(expected);
  for (const [text] of parse.mock.calls) {
    expect(text.split('[').length).toBeLessThanOrEqual(jsonDepthMax + 2);
  }
});
