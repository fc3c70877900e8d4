import { expect, test } from 'vitest';
import type { SpanInit } from '../../../../harness/fixtures/spans.ts';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';
import { eventIdOf } from '../mapping/ids.ts';

/**
 * Streamed calls as Logfire records them: a span of the request, and a span of type `log` when the stream has
 * ended.
 */

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentSpanId = 'f'.repeat(16);
const startNs = 1_760_000_000_000_000_000n;
const msOf = (ms: number) => startNs + BigInt(ms) * 1_000_000n;
const scope = { name: 'logfire.openai' };

function stream(prompt: string, type: 'span' | 'log') {
  return {
    'logfire.span_type': type,
    request_data: '{"model":"gpt-4o"}',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: prompt }] }]),
  };
}

/** @param at when the response began, in milliseconds. */
function requestOf(spanId: string, prompt: string, at = 200): SpanInit {
  const times = { startNs: msOf(at - 200), endNs: msOf(at) };
  return { traceId, spanId, parentSpanId, ...times, attributes: stream(prompt, 'span') };
}

function logOf(spanId: string, prompt: string, { response = 'Mild.', at = 3_200 } = {}): SpanInit {
  const attributes = {
    ...stream(prompt, 'log'),
    duration: 2.9995,
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'text', content: response }] },
    ]),
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.usage.raw':
      '{"prompt_tokens":20,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8}}',
  };
  return { traceId, spanId, parentSpanId, startNs: msOf(at), endNs: msOf(at), attributes };
}

const idOf = (letter: string) => letter.repeat(16);

test('the request and the end of a stream are one event, from the request to the end', () => {
  const { events, counts } = mapRequests({
    scope,
    spans: [logOf(idOf('b'), 'How warm?'), requestOf(idOf('a'), 'How warm?')],
  });
  expect(counts).toEqual({ stored: 1, rejected: 0, filtered: { merged: 1 } });
  expect(events).toMatchObject([
    {
      id: eventIdOf(traceId, idOf('a')),
      durationMs: 3_200,
      additionalProperties: { 'otel.merged_span_ids': idOf('b') },
      properties: {
        llm: {
          input: { prompt: 'How warm?' },
          output: { response: 'Mild.' },
          usage: { inputTokens: 20, inputTokenDetails: { cacheReadTokens: 8 }, outputTokens: 7 },
        },
      },
    },
  ]);
});

test('equal streams one after the other, and simultaneous ones, stay several events', () => {
  const prompts = ['How warm?', 'How warm?', 'How cold?'];
  const later = 10_000;
  const { events, counts } = mapRequests({
    scope,
    spans: [
      ...prompts.map((prompt, index) => requestOf(`a00000000000000${index}`, prompt)),
      ...prompts.map((prompt, index) => logOf(`b00000000000000${index}`, prompt, { response: prompt })),
      requestOf(idOf('c'), 'How warm?', later),
      logOf(idOf('d'), 'How warm?', { response: 'How warm?', at: later + 3_000 }),
    ],
  });
  expect(counts).toEqual({ stored: 4, rejected: 0, filtered: { merged: 4 } });
  for (const { durationMs, properties } of events) {
    expect(durationMs).toBe(3_200);
    expect(properties.llm.output.response).toBe(properties.llm.input.prompt);
  }
});

test('the client below the request has the ids of the call', () => {
  const below: SpanInit = {
    traceId,
    spanId: idOf('c'),
    parentSpanId: idOf('a'),
    startNs: msOf(10),
    endNs: msOf(3_199),
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.response.id': 'msg_1',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 7,
    },
  };
  const { events } = mapRequests(
    { scope: { name: 'client' }, spans: [below] },
    { scope, spans: [requestOf(idOf('a'), 'How warm?'), logOf(idOf('b'), 'How warm?')] },
  );
  expect(events).toMatchObject([
    {
      id: eventIdOf(traceId, idOf('c')),
      durationMs: 3_189,
      properties: { llm: { responseId: 'msg_1', output: { response: 'Mild.' } } },
    },
  ]);
});

test('the end of a stream alone has the times of the stream', () => {
  const { events } = mapRequests({ scope, spans: [logOf(idOf('b'), 'How warm?')] });
  expect(events).toMatchObject([
    { startTimeMs: Number(msOf(3_200) / 1_000_000n) - 2_999.5, durationMs: 2_999.5 },
  ]);
});
