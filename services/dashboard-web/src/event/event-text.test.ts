import { expect, test } from 'vitest';
import { readEventText } from './event-text.ts';
import { toMarkdown, toPlainText } from './plain-text.ts';

test('a conversation is read as it was sent, and numbers keep their digits', () => {
  const text =
    '{"properties":{"llm":{"input":{"system":"s\\u0000","prompt":"p","tools":[{"function":{"name":"f"}}]},"output":{"response":null,' +
    '"toolCalls":[{"id":"c1","function":{"name":"f","arguments":"{\\"n\\":12345678901234567890}"}},{"toolName":"g","input":{"n":12345678901234567890}}]},' +
    '"usage":{"inputTokens":3,"inputTokenDetails":{"cacheReadTokens":2},"totalTokens":"x"}}},"additionalProperties":{"seats":3.0,"plan":"pro"}}';
  const event = readEventText(text);
  expect(event.llm).toEqual({
    system: 's\0',
    prompt: 'p',
    response: undefined,
    tools: [{ name: 'f', source: '{"function":{"name":"f"}}' }],
    toolCalls: [
      { name: 'f', callId: 'c1', input: '{"n":12345678901234567890}' },
      { name: 'g', callId: undefined, input: '{"n":12345678901234567890}' },
    ],
    usage: {
      input: 3,
      cacheRead: 2,
      cacheWrite: undefined,
      output: undefined,
      reasoning: undefined,
      total: undefined,
    },
  });
  expect(event.attributes).toEqual([
    { key: 'seats', value: '3.0' },
    { key: 'plan', value: 'pro' },
  ]);
});

test.for([
  '{}',
  '{"properties":{"llm":[]}}',
  '{"properties":{"llm":{"input":7,"output":"x","usage":[]}}}',
  '{"properties":{"tool":{"input":null}}}',
])('an event of another shape than expected is shown: %s', (text) => {
  expect(readEventText(text).attributes).toEqual([]);
});

test('text and Markdown have every part, and a fence that the text cannot end', () => {
  const event = readEventText('{"properties":{"tool":{"input":{"q":1},"output":"```` x"}}}');
  expect(toPlainText(event)).toBe('── Input ──\n{"q":1}\n\n── Output ──\n```` x');
  expect(toMarkdown(event)).toBe('## Input\n\n```\n{"q":1}\n```\n\n## Output\n\n`````\n```` x\n`````');
});
