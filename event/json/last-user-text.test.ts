import { expect, test } from 'vitest';
import { lastUserText } from './last-user-text.ts';

const user = (content: unknown) => ({ role: 'user', content });
const openAi = [
  { role: 'system', content: 'Be brief' },
  user('first'),
  { role: 'assistant', content: 'yes' },
];

test.each([
  ['OpenAI', JSON.stringify([...openAi, user('last\n"one"')]), 'last\n"one"'],
  [
    'with a member for the messages',
    JSON.stringify({ messages: [...openAi, user('last')] }, null, 2),
    'last',
  ],
  ['Anthropic', JSON.stringify([user([{ type: 'text', text: 'last' }])]), 'last'],
  ['Google', JSON.stringify({ messages: [{ role: 'user', parts: [{ text: 'last' }] }] }), 'last'],
  ['OpenTelemetry', JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'last' }] }]), 'last'],
  ['escapes', '[{"role":"user","content":"\\u00e9\\ud83d\\ude00"}]', 'é😀'],
  [
    'a result of a tool after it',
    JSON.stringify([user('last'), user([{ type: 'tool_result', content: 'x' }])]),
    'last',
  ],
  [
    'a conversation within a text',
    JSON.stringify([user(`last ${JSON.stringify(user('inner'))}`)]),
    'last {"role":"user","content":"inner"}',
  ],
  ['no text of a user', JSON.stringify([{ role: 'system', content: '"user"' }]), undefined],
  ['a plain prompt', 'Say "role":"user","content":"no"', undefined],
  ['a line end within a text', '[{"role":"user","content":"a\nb"}]', undefined],
])('the last text of a user is found: %s', (_, prompt, text) => {
  expect(lastUserText(prompt, 64)).toBe(text);
});

test('of a long text the beginning is returned, without half an escape', () => {
  const text = lastUserText(JSON.stringify([user('é'.repeat(1_000))]).replaceAll('é', '\\u00e9'), 64);
  expect(text).toMatch(/^é{64,}$/);
});
