import { expect, test } from 'vitest';
import { readMessages } from './messages.ts';

const shape = (value: unknown) =>
  readMessages(JSON.stringify(value))?.map(({ role, parts }) => [role, ...parts]);
const text = (of: string) => ({ kind: 'text', text: of });

test('messages of several providers become texts, calls and results', () => {
  expect(
    shape([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'human',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'image_url', image_url: 'x' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'find', arguments: '{"id":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":true}' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c2', name: 'book', input: { day: 2 } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'done' }] }],
      },
      { role: 'model', parts: [{ text: 'Bye' }] },
    ]),
  ).toEqual([
    ['system', text('Be brief.')],
    ['user', text('Hi'), { kind: 'other', text: '{"type":"image_url","image_url":"x"}' }],
    ['assistant', { kind: 'call', call: { name: 'find', callId: 'c1', input: '{"id":1}' } }],
    ['tool', { kind: 'result', name: 'find', text: '{"ok":true}' }],
    ['assistant', { kind: 'call', call: { name: 'book', callId: 'c2', input: '{"day":2}' } }],
    ['user', { kind: 'result', name: 'book', text: 'done' }],
    ['assistant', text('Bye')],
  ]);
  expect(shape({ messages: [{ role: 'user', content: 'Hi' }] })).toEqual([['user', text('Hi')]]);
});

test('numbers of a call keep their digits', () => {
  const prompt = '[{"role":"assistant","tool_calls":[{"name":"f","input":{"id":723421968459640833}}]}]';
  expect(readMessages(prompt)?.[0]?.parts).toMatchObject([{ call: { input: '{"id":723421968459640833}' } }]);
});

test.each([
  'Hello',
  '[1, 2]',
  '[]',
  '{"role":"user"}',
  '[{"role":"user","content":"a"}',
  '[{"role":"pilot"}]',
  '[{"role":"user"}, "x"]',
])('other texts are no conversation: %s', (prompt) => {
  expect(readMessages(prompt)).toBeUndefined();
});
