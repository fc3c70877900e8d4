import { expect, test } from 'vitest';
import { readMessages } from '../../event/messages.ts';
import { findNewMessages } from './repeated-text.ts';

const read = (...messages: object[]) => readMessages(JSON.stringify(messages)) ?? [];
const question = { role: 'user', content: 'Where is my bike?' };
const call = { role: 'assistant', tool_calls: [{ name: 'find', input: {} }] };
const result = { role: 'tool', name: 'find', content: '{"bike":"in the workshop"}' };
const next = { role: 'user', content: 'Thanks' };
const tools = [{ name: 'find', outputPreview: '{"bike":"in the workshop"}', errorMessage: null }];

test('a first prompt is new as a whole', () => {
  expect(findNewMessages(read(question), undefined, [])).toMatchObject({ repeated: 0, results: 0 });
  expect(findNewMessages(read(question), undefined, []).messages).toHaveLength(1);
});

test('messages of the prompt before, the response to it and results of its tools are folded', () => {
  const found = findNewMessages(read(question, call, result, next), read(question), tools);
  expect(found).toMatchObject({ repeated: 2, results: 1, messages: [{ parts: [{ text: 'Thanks' }] }] });
});

test('a result that no tool of the turn before has stays', () => {
  const found = findNewMessages(read(question, call, result), read(question), []);
  expect(found).toMatchObject({ repeated: 2, results: 0, messages: [{ role: 'tool' }] });
});
