import { expect, test } from 'vitest';
import type { SpanInit } from '../../../../harness/fixtures/spans.ts';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';
import { eventIdOf } from './ids.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const idOf = (letter: string) => letter.repeat(16);
const agentName = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };

const attributes = {
  llm: { 'gen_ai.operation.name': 'chat' },
  tool: { 'gen_ai.operation.name': 'execute_tool' },
  agent: agentName,
  http: { 'http.request.method': 'POST' },
  sum: { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 5 },
};

/** Creates spans from texts: `llm:c<b` is an LLM span c whose parent is b. */
function spansOf(...texts: readonly string[]): SpanInit[] {
  return texts.map((text) => {
    const [kind = '', ids = ''] = text.split(':');
    const [id = '', parent] = ids.split('<');
    return {
      traceId,
      spanId: idOf(id),
      ...(parent !== undefined && { parentSpanId: idOf(parent) }),
      attributes: attributes[kind as keyof typeof attributes],
    };
  });
}

function map(...texts: readonly string[]) {
  const { events, counts } = mapRequests({ spans: spansOf(...texts) });
  const byId = new Map(events.map((event) => [event.id, event]));
  const eventOf = (letter: string) => byId.get(eventIdOf(traceId, idOf(letter)));
  return { eventOf, counts, events };
}

test('the parent of an event is the nearest event above its span', () => {
  const { eventOf } = map('tool:a', 'http:b<a', 'agent:c<b', 'llm:d<c');
  expect(eventOf('d').additionalProperties).toMatchObject({
    'otel.parent_span_id': idOf('c'),
    'otel.parent_event_id': eventIdOf(traceId, idOf('a')),
  });
  expect(eventOf('a').additionalProperties).not.toHaveProperty('otel.parent_event_id');
  expect(eventOf('a').additionalProperties).not.toHaveProperty('otel.parent_span_id');
});

test('a parent that is not in the request may be no event, and is not named', () => {
  const { events } = map('llm:c<b', 'llm:e<d', 'http:d<f');
  for (const event of events) expect(event.additionalProperties).not.toHaveProperty('otel.parent_event_id');
});

test('an event has no parent if no span above it is an event', () => {
  expect(map('agent:a', 'llm:b<a').eventOf('b').additionalProperties).not.toHaveProperty(
    'otel.parent_event_id',
  );
});

test('the agent is that of the nearest agent run above, if the span names none', () => {
  const { eventOf } = map('agent:a', 'http:b<a', 'tool:c<b', 'llm:d<c', 'llm:e');
  expect(eventOf('c').context).toEqual({ agentId: 'planner' });
  expect(eventOf('d').context).toEqual({ agentId: 'planner' });
  expect(eventOf('e').context).toEqual({});
});

test('an LLM span above several others is their sum, and not an event', () => {
  const { events, counts } = map('sum:a', 'http:b<a', 'llm:c<b', 'llm:d<b', 'tool:e<a');
  expect(events).toHaveLength(3);
  expect(counts.filtered).toEqual({ aggregate: 1, not_genai: 1 });
});

test('a tool above a model is an event: an agent may be a tool', () => {
  expect(map('tool:a', 'llm:b<a').events).toHaveLength(2);
});

test('spans with the same id in two traces are unrelated', () => {
  const other = '1'.repeat(32);
  const { events } = mapRequests({
    spans: [
      ...spansOf('tool:a', 'llm:b<a'),
      { traceId: other, spanId: idOf('b'), parentSpanId: idOf('a'), attributes: attributes.llm },
    ],
  });
  expect(events.map((event) => event.additionalProperties['otel.parent_event_id'])).toEqual([
    undefined,
    eventIdOf(traceId, idOf('a')),
    undefined,
  ]);
});

test('a parent with an invalid id is ignored', () => {
  const { events } = mapRequests({
    spans: ['0'.repeat(16), 'abcd'].map((parentSpanId, index) => ({
      spanId: idOf(String(index + 1)),
      parentSpanId,
      attributes: attributes.llm,
    })),
  });
  expect(events).toHaveLength(2);
  for (const event of events) expect(event.additionalProperties).not.toHaveProperty('otel.parent_event_id');
});

test('the parent of an event skips spans that cannot be stored', () => {
  const { events } = mapRequests({
    spans: [
      { spanId: idOf('1'), attributes: attributes.tool },
      { spanId: 'abcd', parentSpanId: idOf('1'), attributes: attributes.tool },
      { spanId: idOf('2'), parentSpanId: 'abcd', attributes: attributes.llm },
    ],
  });
  expect(events).toHaveLength(2);
  expect(events[1].additionalProperties['otel.parent_event_id']).toBe(events[0].id);
});

test('circles end', () => {
  const { eventOf, counts } = map('http:a<b', 'http:b<a', 'llm:c<b', 'tool:d<d');
  expect(eventOf('c').additionalProperties).not.toHaveProperty('otel.parent_event_id');
  expect(counts.stored).toBe(2);
});

test('the cost of a chain of 2,000 spans is linear', () => {
  const hex = (number: number) => number.toString(16).padStart(16, '0');
  const spans = Array.from({ length: 2_000 }, (_, index) => ({
    traceId,
    spanId: hex(index + 1),
    ...(index > 0 && { parentSpanId: hex(index) }),
    attributes: index % 2 === 0 ? attributes.http : attributes.tool,
  }));
  const { events } = mapRequests({ spans });
  expect(events).toHaveLength(1_000);
  expect(events[999].additionalProperties['otel.parent_event_id']).toBe(events[998].id);
});

test('a span that is its own parent, and spans that are above each other, are calls with what is above none of them', () => {
  expect(map('llm:a<a').counts.stored).toBe(1);
  const { eventOf, counts } = map('llm:a<c', 'http:b<a', 'llm:c<b', 'tool:d<c');
  expect(counts.stored).toBe(3);
  expect(eventOf('d').additionalProperties['otel.parent_event_id']).toBe(eventIdOf(traceId, idOf('c')));
});
