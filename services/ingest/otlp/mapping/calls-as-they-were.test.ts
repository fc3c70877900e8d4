import { expect, test } from 'vitest';
import type { Values } from '../../../../harness/fixtures/spans.ts';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';

/** Small inputs of real senders, each of which was read as something else. */

function mapOne(attributes: Values, resource: Values = {}) {
  const { events, counts } = mapRequests({ resource, spans: [{ attributes, status: { code: 2 } }] });
  return { event: events[0], llm: events[0]?.properties.llm, counts };
}

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-x' };
const output = (...messages: object[]) => ({ ...chat, 'gen_ai.output.messages': JSON.stringify(messages) });
const text = (content: string) => ({ type: 'text', content });

test.each([
  ['acompletion', 'stored'],
  ['aresponses', 'stored'],
  ['anthropic_messages', 'stored'],
  ['aembedding', 'embeddings'],
  ['plan', 'aggregate'],
  ['retrieval', 'aggregate'],
  ['search_memory', 'aggregate'],
])('the operation %s is %s', (operation, outcome) => {
  const usage = { 'gen_ai.usage.input_tokens': 5 };
  const { counts } = mapOne({ ...chat, ...usage, 'gen_ai.operation.name': operation });
  const filtered = outcome === 'stored' ? {} : { [outcome]: 1 };
  expect(counts).toEqual({ stored: outcome === 'stored' ? 1 : 0, rejected: 0, filtered });
});

test('the placeholder `none` never beats the requested model', () => {
  expect(mapOne({ ...chat, 'gen_ai.response.model': 'none' }).llm.model).toBe('gpt-x');
});

test('two choices are two texts, with both finish reasons', () => {
  const { llm } = mapOne(
    output(
      { role: 'assistant', parts: [text('first')], finish_reason: 'stop' },
      { role: 'assistant', parts: [text('second')], finish_reason: 'length' },
    ),
  );
  expect(llm.output).toMatchObject({
    response: 'first',
    otherResponses: ['second'],
    finishReason: 'stop, length',
  });
});

test('a refusal is a response', () => {
  const { llm } = mapOne(output({ role: 'assistant', content: null, refusal: 'I cannot.' }));
  expect(llm.output.response).toBe('I cannot.');
});

test.each([
  ['GenAI', output({ role: 'assistant', parts: [{ type: 'reasoning', content: 'Think.' }, text('21')] })],
  [
    'Anthropic',
    output({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Think.' },
        { type: 'text', text: '21' },
      ],
    }),
  ],
  ['DeepSeek', output({ role: 'assistant', content: '21', reasoning_content: 'Think.' })],
  [
    'the AI SDK',
    {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.response.text': '21',
      'ai.response.reasoning': 'Think.',
    },
  ],
])('reasoning of %s is in `output.reasoning`', (_, attributes) => {
  expect(mapOne(attributes).llm.output).toMatchObject({ response: '21', reasoning: 'Think.' });
});

test('a list of messages as JSON texts is the conversation', () => {
  const user = '{"role": "user", "parts": [{"type": "text", "content": "Where?"}]}';
  const answer =
    '{"role": "assistant", "parts": [{"type": "text", "content": "North."}], "finish_reason": "stop"}';
  for (const [input, result] of [
    [[user], [answer]],
    [JSON.stringify([user]), JSON.stringify([answer])],
    [JSON.stringify([user]), JSON.stringify(`[${answer}]`)],
  ] as const) {
    const { llm } = mapOne({ ...chat, 'gen_ai.input.messages': input, 'gen_ai.output.messages': result });
    expect(llm).toMatchObject({
      input: { prompt: 'Where?' },
      output: { response: 'North.', finishReason: 'stop' },
    });
  }
});

test('environment and release are dimensions', () => {
  const resource = { 'deployment.environment.name': 'staging', 'service.version': '1.4.2' };
  expect(mapOne(chat, resource).event.additionalProperties).toMatchObject({
    environment: 'staging',
    release: '1.4.2',
  });
  const langfuse = { ...chat, 'langfuse.environment': 'test', 'langfuse.release': 'r12' };
  expect(mapOne(langfuse, resource).event.additionalProperties).toMatchObject({
    environment: 'test',
    release: 'r12',
  });
  // Sentry names the version of its SDK.
  const sentry = { ...resource, 'service.namespace': 'sentry' };
  expect(mapOne(chat, sentry).event.additionalProperties).not.toHaveProperty('release');
});
