import { expect, test } from 'vitest';
import { parseExactJson, stringifyExact } from '../../../../event/json/exact-json.ts';
import type { Json } from '../../../../event/json/json-value.ts';
import { type SpanInit, toOtlpJson, toProtobuf } from '../../../../harness/fixtures/spans.ts';
import { unlimited } from '../../read/batch-reader.ts';
import { createSpanReaders } from '../batch/span-readers.ts';

const readers = createSpanReaders('weir', unlimited);

const tool = (name: string) =>
  `{"type":"function","function":{"name":"${name}","parameters":{"type":"object","limit":1152921504606846977}}}`;

/** Calls of more agents than are compared, whose tools and prompts begin alike. */
function callOf(index: number, more: SpanInit['attributes'] = {}): SpanInit {
  const agent = index % 6;
  const numbered = Array.from({ length: 2 + (agent % 3) }, (_, at) => [
    `llm.tools.${at}.tool.json_schema`,
    tool(`tool-${at < 2 ? at : agent}`),
  ]);
  const listed = `[${tool('a')},${tool(`b${agent}`)}]`;
  return {
    spanId: (index + 1).toString(16).padStart(16, '0'),
    attributes: {
      'openinference.span.kind': 'LLM',
      // Two agents have as many names, and of the same lengths.
      [`agent.note.${agent}`]: 'x',
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.0.message.content': `You are agent ${agent}. ${'Be brief. '.repeat(50)}`,
      'llm.input_messages.1.message.role': 'user',
      'llm.input_messages.1.message.content': `Question ${Math.floor(index / 12)} ${'why? '.repeat(60)}`,
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: `Instructions ${agent}` }]),
      ...(agent < 4 ? Object.fromEntries(numbered) : { 'gen_ai.tool.definitions': listed }),
      ...more,
    },
  };
}

const eventsOf = (spans: readonly SpanInit[], encoding: 'otlp' | 'otlpJson'): string[] => {
  const bytes = encoding === 'otlp' ? toProtobuf({ spans }) : toOtlpJson({ spans });
  return readers[encoding](bytes).parts.flatMap(({ body }) => {
    const { events } = parseExactJson(body.toString(), false) as { events: Json[] };
    return events.map((event) => stringifyExact(event));
  });
};

test.each(['otlp', 'otlpJson'] as const)(
  'what the spans of a request in %s repeat gives the same events as in requests of their own',
  (encoding) => {
    const spans = Array.from({ length: 60 }, (_, index) => callOf(index));
    expect(eventsOf(spans, encoding)).toEqual(spans.flatMap((span) => eventsOf([span], encoding)));
  },
);

test('an event that is shortened changes nothing in the others, whose texts it shares', () => {
  const [first, large, last] = [callOf(0), callOf(6, { note: 'x'.repeat(5 * 1024 ** 2) }), callOf(6)];
  const spans = [first, large, { ...last, spanId: 'f'.repeat(16) }];
  const [, shortened, after] = eventsOf(spans, 'otlp');
  expect(shortened).toContain('"sameAs":"input.prompt"');
  expect(after).toBe(eventsOf(spans.slice(2), 'otlp')[0]);
});
