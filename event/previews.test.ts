import { expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../harness/fixtures/events.ts';
import type { IngestEvent } from './event.ts';
import { inputPreview, outputPreview } from './previews.ts';

const ofOutput = (output: object) =>
  outputPreview(llmEvent({ properties: { llm: { output } } }) as unknown as IngestEvent);

test.each([
  ['OpenAI', { function: { arguments: '{"city":"Bern"}', name: 'get_weather' }, id: 'a' }],
  ['the SDK', { id: 'a', name: 'get_weather', arguments: '{"city":"Bern"}' }],
  ['Anthropic', { type: 'tool_use', id: 'a', name: 'get_weather', input: { city: 'Bern' } }],
  ['ai', { toolCallId: 'a', toolName: 'get_weather', args: { city: 'Bern' } }],
])('a tool call of %s is shown as a call, its name first', (_, call) => {
  expect(ofOutput({ response: '', toolCalls: [call] })).toBe('get_weather({"city":"Bern"})');
});

test('several calls are shown in turn, calls without a known name as JSON, and all are cut at 64 characters', () => {
  expect(ofOutput({ toolCalls: [{ name: 'a' }, { what: 1 }, 'b', null] })).toBe('a(), {"what":1}, b, ');
  const long = ofOutput({ toolCalls: [{ name: 'a', input: 'x'.repeat(100) }, { name: 'never' }] });
  expect(long).toBe(`a(${'x'.repeat(62)}`);
});

test('text takes precedence over calls; without either there is no preview', () => {
  expect(ofOutput({ response: 'Hello', toolCalls: [{ name: 'a' }] })).toBe('Hello');
  expect(ofOutput({ toolCalls: [] })).toBeUndefined();
  expect(ofOutput({ response: '' })).toBe('');
});

test("a tool's previews are its input and output, as text or as JSON", () => {
  const event = toolEvent({ properties: { tool: { name: 't', input: { a: [1] }, output: null } } });
  expect(inputPreview(event as unknown as IngestEvent)).toBe('{"a":[1]}');
  expect(outputPreview(event as unknown as IngestEvent)).toBeUndefined();
});

test('a conversation is shown by the last text of its user, which differs from call to call', () => {
  const prompt =
    '[{"role":"user","content":"first"},{"role":"assistant","content":""},{"role":"user","content":"last"}]';
  const event = llmEvent({ properties: { llm: { input: { prompt } } } });
  expect(inputPreview(event as unknown as IngestEvent)).toBe('last');
});
