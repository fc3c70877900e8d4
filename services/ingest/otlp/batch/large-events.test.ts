import { expect, test } from 'vitest';
import { toProtobuf, type Values } from '../../../../harness/fixtures/spans.ts';
import { bodyBytesMax } from '../../../../platform/limits.ts';
import { unlimited } from '../../read/batch-reader.ts';
import { createSpanReaders } from './span-readers.ts';

const reader = createSpanReaders('weir', unlimited).otlp;

/** The JSON of the one event of a span. */
function textOf(attributes: Values): string {
  const { parts, counts } = reader(toProtobuf({ spans: [{ attributes }] }));
  expect(counts).toMatchObject({ stored: 1, rejected: 0 });
  return parts[0]?.body.toString() ?? '';
}

/** A text that is nowhere else, of this many thousand characters. */
const textOfSize = (name: string, thousands: number, filling = 'x') =>
  `${name} ${filling.repeat(thousands * 1_000)} ${name}`;

const isOnce = (json: string, text: string) => json.split(JSON.stringify(text).slice(1, -1)).length === 2;

const genAi = (system: string, parts: readonly string[], answer: string) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]),
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: parts.map((content) => ({ type: 'text', content })) },
  ]),
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: answer }], finish_reason: 'stop' },
  ]),
});

const openInference = (system: string, prompt: string, answer: string) => ({
  'openinference.span.kind': 'LLM',
  'llm.input_messages.0.message.role': 'system',
  'llm.input_messages.0.message.content': system,
  'llm.input_messages.1.message.role': 'user',
  'llm.input_messages.1.message.content': prompt,
  'llm.output_messages.0.message.role': 'assistant',
  'llm.output_messages.0.message.content': answer,
  'input.value': JSON.stringify({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: prompt },
    ],
    temperature: 0,
  }),
  'output.value': JSON.stringify({
    id: 'response-1',
    choices: [{ message: { role: 'assistant', content: answer } }],
  }),
});

test('4.1 MB of GenAI messages are stored whole, each text once', () => {
  const texts = [
    textOfSize('system', 800),
    textOfSize('first part', 1_200),
    textOfSize('second part', 1_000),
    textOfSize('answer', 1_100),
  ];
  const [system = '', first = '', second = '', answer = ''] = texts;
  const json = textOf(genAi(system, [first, second], answer));
  expect(json.length).toBeLessThan(bodyBytesMax);
  expect(json).not.toContain('truncated');
  for (const text of texts) expect(isOnce(json, text)).toBe(true);
  const { llm } = JSON.parse(json).events[0].properties;
  expect(llm.input).toMatchObject({ system, prompt: `${first}\n${second}` });
  expect(llm.input.messages[0].parts).toMatchObject([
    { content: { sameAs: 'input.prompt', from: 0, chars: first.length } },
    { content: { sameAs: 'input.prompt', from: first.length + 1, chars: second.length } },
  ]);
  expect(llm.output).toMatchObject({ response: answer, finishReason: 'stop' });
});

test('3.9 MB of content in OpenInference are stored whole, although it is sent twice', () => {
  const texts = [textOfSize('system', 900), textOfSize('prompt', 2_000), textOfSize('answer', 1_000)];
  const [system = '', prompt = '', answer = ''] = texts;
  const json = textOf(openInference(system, prompt, answer));
  expect(json).not.toContain('truncated');
  for (const text of texts) expect(isOnce(json, text)).toBe(true);
  const { llm } = JSON.parse(json).events[0].properties;
  expect(llm).toMatchObject({ input: { system, prompt }, output: { response: answer } });
});

test('a text full of quotes takes two bytes for each, not eight', () => {
  const quotes = textOfSize('quotes', 2_000, '"');
  for (const attributes of [genAi('', [quotes], ''), openInference('', quotes, '')]) {
    const json = textOf(attributes);
    expect(json).not.toContain('truncated');
    expect(JSON.parse(json).events[0].properties.llm.input.prompt).toBe(quotes);
  }
});

test('an event that fits keeps its texts in each place', () => {
  const json = textOf(genAi('Be brief.', [textOfSize('prompt', 100)], textOfSize('answer', 100)));
  expect(json).not.toContain('sameAs');
});

test('what is still too large is shortened', () => {
  const [prompt, answer] = [textOfSize('prompt', 3_000), textOfSize('answer', 2_000)];
  const json = textOf(genAi('Be brief.', [prompt], answer));
  const { llm } = JSON.parse(json).events[0].properties;
  expect(JSON.parse(llm.input.prompt)).toMatchObject({ truncated: true, bytes: prompt.length });
  expect(llm.output.response).toBe(answer);
});

test('a key with an escape is kept in what is shortened (nodejs/node#63785)', () => {
  const other = JSON.parse('{"a":0,"\\\\":0}');
  const json = textOf({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'search',
    'gen_ai.tool.call.arguments': JSON.stringify({ a: 1, '"': 2 }),
    'gen_ai.tool.call.result': textOfSize('result', 4_200),
  });
  expect(json).toContain('"input":{"a":1,"\\"":2}');
  expect(json).toContain('"truncated":true');
  // The object is in use until here: V8 may forget the order of its keys with it.
  expect(Object.keys(other)).toEqual(['a', '\\']);
});
