import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { projectEvents } from '../../../event/projection.ts';
import { compileBatchRules } from '../../../event/validate.ts';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { keyText, objectText, valueText } from '../../../harness/fixtures/json-text.ts';
import { bodyBytesMax, eventsPerBatchMax, jsonDepthMax } from '../../../platform/limits.ts';
import { unlimited } from './batch-reader.ts';
import { createJsonBatchReader } from './json-batch-reader.ts';
import { parseBody } from './parse-body.ts';
import { createProtobufJsonBatchReader } from './protobuf-batch-reader.ts';

const readJson = createJsonBatchReader(compileBatchRules('weir'), unlimited);
const readBatch = (bytes: Buffer) => readJson(bytes).projection;
const { validateBatch } = compileBatchRules('weir');
/** The reference: parses the whole body at once. */
const readWhole = (bytes: Buffer) => projectEvents(validateBatch(parseBody(bytes)));

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

test('reading event by event equals reading the whole body', () => {
  fc.assert(fc.property(body, expectSame), { numRuns: 2_000 });
});

const secret = 'SECRET WORD';
const withSecret = (depth: number) => `${'['.repeat(depth)}"${secret}"${']'.repeat(depth)}`;
const llm = JSON.stringify(llmEvent());

test.each([
  ...[1, 509, 510, 511].map((depth) => [
    `nested ${depth} deep`,
    `{"note":${withSecret(depth)},"events":[${llm}]}`,
  ]),
  ...[500, 501].map((count) => [
    `an array of ${count} events before the last`,
    `{"events":[${Array(count).fill(`"${secret}"`).join()}],"events":[${llm}]}`,
  ]),
  ['a deep array of events before the last', `{"events":${withSecret(511)},"events":[${llm}]}`],
  ['white space before it', ` \n{"events":[${llm}],"note":"${secret}"}`],
])('of a body with %s beside the events, only the events are stored', (_, text) => {
  const { body, projection } = readJson(Buffer.from(text));
  expect(projection.eventCount).toBe(1);
  expect(String(body)).toBe(`{"events":[${llm}]}`);
});

test('nesting that a later member of the same name hides is rejected: segments could not be read', () => {
  const hidden = `"additionalProperties":{"x":${withSecret(600)},"x":1,"plan":`;
  for (const text of [
    `{"events":[${llm.replace('"additionalProperties":{"plan":', hidden)}]}`,
    `{"note":${withSecret(600)},"note":1,"events":[${llm}]}`,
    `{"events":[${withSecret(600)}],"events":[${llm}]}`,
  ]) {
    expect(text).toContain(secret);
    expect(() => readJson(Buffer.from(text))).toThrow('nested deeper than 512 levels');
  }
});

test('a damaged body is rejected with the same error', () => {
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
  ['another value after it', `{"events":[${JSON.stringify(llmEvent())}]}0`],
  ['brackets that cross', `{"events":[${JSON.stringify(llmEvent()).slice(0, -1)}]}`],
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  [
    'a deep field outside of the events',
    `{"events":[${JSON.stringify(llmEvent())}],"x":${'['.repeat(600)}${']'.repeat(600)}}`,
  ],
  ['a deep event', `{"events":[{"x":${'['.repeat(509)}${']'.repeat(509)}}]}`],
])('a body with %s has the same result', (_, text) => expectSame(text));

test('a byte order mark before the body is skipped, and not stored', () => {
  const json = JSON.stringify({ events: [llmEvent()] });
  const { projection, body } = readJson(Buffer.from(`\uFEFF${json}`));
  expect(projection.eventCount).toBe(1);
  expect(body?.toString()).toBe(json);
  const readRpc = createProtobufJsonBatchReader(compileBatchRules('weir'), unlimited);
  expect(readRpc(Buffer.from('\uFEFF{"events":[]}')).projection.eventCount).toBe(0);
});

/** Values of inputs, from a few, so that they repeat; the longer ones are long enough to be compared. */
const repeatable = fc
  .constantFrom(
    '"Answer in one word.\\n"',
    '"Answer in one word. \u00e9 \ud83d\ude00"',
    '"Answer in one word. \\u00e9"',
    '"\u0001 a control character"',
    '"an escape that JSON lacks: \\x"',
    '[{"type":"function","function":{"name":"read","parameters":{"a":[1,2]}}}]',
    '[{"type":"function","\\u0066unction":{"name":"read"}}]',
    '[{"type":"function" "function":0}]',
    '[0]',
    '{}',
    '7',
    'null',
  )
  .map((text) => (text.length < 20 ? text : text.charAt(0) + ' '.repeat(80) + text.slice(1)));
const inputText = objectText(
  fc.array(fc.tuple(fc.constantFrom('"system"', '"tools"', '"prompt"', '"s\\u0079stem"'), repeatable), {
    maxLength: 4,
  }),
);
/** Events with such inputs at the path that is compared, and at paths like it. */
const agentEvent = fc
  .tuple(
    inputText,
    fc.constantFrom(
      '{"llm":{"input":HERE}}',
      '{"llm":{"input":HERE,"output":HERE}}',
      '{"llm":{"input":[HERE],"x":{"input":HERE}},"llm":{"input":HERE}}',
      '{"tool":{"name":"a","input":HERE,"output":HERE}}',
      '{"tool":{"input":HERE},"llm":{"input":HERE}}',
    ),
  )
  .map(([input, properties]) => {
    const event = properties.startsWith('{"llm"') ? llmEvent() : toolEvent();
    return JSON.stringify({ ...event, properties: 'HERE' }).replace('"HERE"', () =>
      properties.replaceAll('HERE', () => input),
    );
  });

test('events with equal inputs are read as if each were alone', () => {
  fc.assert(
    fc.property(fc.array(agentEvent, { minLength: 2, maxLength: 8 }), fc.boolean(), (events, hasMore) =>
      expectSame(`{${hasMore ? `"more":${events[0]},` : ''}"events":[${events.join()}]}`),
    ),
    { numRuns: 3_000 },
  );
});

test('an input that equals an earlier one is checked for the type of its own event', () => {
  const system = `"${'a'.repeat(100)}"`;
  const tool = JSON.stringify(toolEvent({ properties: { tool: {}, llm: { input: { tools: 'HERE' } } } }));
  const llm = JSON.stringify(llmEvent({ properties: { llm: { input: { tools: 'HERE' } } } }));
  const body = `{"events":[${[tool, llm].join().replaceAll('"HERE"', system)}]}`;
  expectSame(body);
  expect(() => readBatch(Buffer.from(body))).toThrow('events[1].properties.llm.input.tools must be an array');
});

/** A batch of events whose system prompts are these JSON texts. */
const withSystems = (...systems: string[]) => {
  const event = JSON.stringify(llmEvent({ properties: { llm: { input: { system: 'HERE' } } } }));
  return Buffer.from(`{"events":[${systems.map((system) => event.replace('"HERE"', system)).join()}]}`);
};

test('an input that differs from an earlier one in a byte is read', () => {
  const system = `"${'a'.repeat(100)}"`;
  for (const other of [
    system.replace('aa', 'a\u0001'),
    system.replace('aaa', '\\xa'),
    system.replace('aa"', '",'),
  ])
    expect(() => readBatch(withSystems(system, other))).toThrow('not valid JSON');
});

test('a batch of repeated inputs is read event by event', () => {
  // Without the slow path, which reads any batch.
  const readFast = createJsonBatchReader(compileBatchRules('weir'), { ...unlimited, badBytesMax: 0 });
  const [a, b] = ['a', 'b'].map((letter) => `"${letter.repeat(100)}"`) as [string, string];
  const bodies = [withSystems(a, b, a, a, b), withSystems(a, a, '""', a, '"é"', a)];
  for (const body of bodies) expect(readFast(body).projection).toEqual(readWhole(body));
  // A member before the events has an input that repeats, too.
  const more = `{"more":{"properties":{"llm":{"input":{"system":${a},"system":${a}}}}},`;
  expect(readFast(Buffer.from(more + bodies[0]?.toString().slice(1))).projection.eventCount).toBe(5);
});

test('members of a body other than its events are not stored', () => {
  const [event, other] = [llmEvent(), toolEvent()].map((one) => JSON.stringify(one, null, 1));
  const stored = (text: string) => readJson(Buffer.from(text)).body?.toString();
  const only = `{"events":[${event},${other}]}`;
  for (const text of [
    `{"note": "secret", "events": [${event}, ${other}]}`,
    `{"events":[${event} ,${other}], "note": {"of": 1}}`,
    `{"events":[${other}],"events":[${event},${other}]}`,
    `{"\\u0065vents":[${event},${other}]}`,
    `{${' '.repeat(1_000)}"events":[${event},${other}]}`,
  ])
    expect(stored(text)).toBe(only);
  // The request body itself is stored.
  for (const text of [only, ` {\n "events" : [ ${event} ,\r\n${other} ] } `])
    expect(stored(text)).toBeUndefined();
});

test('a valid body is read event by event', () => {
  const events = [llmEvent(), toolEvent()];
  expect(readBatch(Buffer.from(JSON.stringify({ events }, null, 2)))).toEqual(
    readWhole(Buffer.from(JSON.stringify({ events }))),
  );
});

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** A batch of one event with this JSON inside: three levels of the batch, and two of the payload. */
const batchWith = (json: string) =>
  JSON.stringify({ events: [toolEvent({ properties: { tool: { value: 'HERE' } } })] }).replace(
    '"HERE"',
    json,
  );
const levelsAround = 5;

test('512 levels are accepted, 513 are not, and brackets in strings do not count', () => {
  const read = (json: string) => readBatch(Buffer.from(batchWith(json)));
  expect(read(nested(jsonDepthMax - levelsAround)).eventCount).toBe(1);
  expect(() => read(nested(jsonDepthMax - levelsAround + 1))).toThrow('nested deeper than 512 levels');
  expect(read(`["${'['.repeat(1_000)}","\\"${'[{'.repeat(1_000)}"]`).eventCount).toBe(1);
  expect(() => readBatch(Buffer.from(`{"events":[],"x":${nested(jsonDepthMax)}}`))).toThrow('nested deeper');
});

test.each([
  ['the whole body', '', '', 'must be a JSON object'],
  ['an event', '{"events":[', ']}', 'nested deeper'],
  ['a field outside of the events', '{"events":[0],"x":', '}', 'nested deeper'],
  ['one of too many events', `{"events":[${'0,'.repeat(eventsPerBatchMax)}`, ']}', 'has 501 events'],
  ['a body with something after it', '', '0', 'not valid JSON'],
])(
  'brackets to the last byte are rejected within 64 MB of memory, as %s',
  async (_, before, after, expected) => {
    const free = bodyBytesMax - before.length - after.length;
    const body = Buffer.from(before + nested(Math.floor(free / 2)) + after);
    expect(await readInSmallHeap(body)).toContain(expected);
  },
);

/** Reads a body in a thread with little memory: JSON.parse of it takes 170 MB. @returns the error. */
async function readInSmallHeap(body: Buffer): Promise<string> {
  const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { parentPort, workerData } = require('node:worker_threads');
    Promise.all([
      import(${urlOf('./json-batch-reader.ts')}),
      import(${urlOf('./batch-reader.ts')}),
      import(${urlOf('../../../event/validate.ts')}),
    ]).then(([{ createJsonBatchReader }, { unlimited }, { compileBatchRules }]) => {
      createJsonBatchReader(compileBatchRules('weir'), unlimited)(Buffer.from(workerData));
    }).then(() => parentPort.postMessage('accepted'), (error) => parentPort.postMessage(String(error)));`;
  const resourceLimits = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16 };
  const worker = new Worker(script, { eval: true, workerData: body, resourceLimits, execArgv: [] });
  const [message] = await once(worker, 'message');
  await worker.terminate();
  return message;
}
