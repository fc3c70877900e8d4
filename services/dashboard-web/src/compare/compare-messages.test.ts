import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ComparedMessage, compareMessages, compareWords } from './compare-messages.ts';
import { conversationOf } from './conversation.ts';

const chat = (...texts: string[]): ComparedMessage[] =>
  texts.map((text, place) => ({ role: place % 2 === 0 ? 'user' : 'assistant', text, key: text }));

test('unchanged messages are one row, words are marked within a changed one, and a further one is added', () => {
  const before = chat('one', 'two', 'open the red door now', 'four');
  const after = chat('one', 'two', 'open the blue door now', 'four', 'five');
  expect(compareMessages(before, after)).toEqual([
    { kind: 'same', after: 0, count: 2 },
    {
      kind: 'changed',
      before: 2,
      after: 2,
      words: [
        { kind: 'same', text: 'open the ' },
        { kind: 'removed', text: 'red' },
        { kind: 'added', text: 'blue' },
        { kind: 'same', text: ' door now' },
      ],
    },
    { kind: 'same', after: 3, count: 1 },
    { kind: 'added', after: 4 },
  ]);
});

test('each message of any two conversations is in one row', () => {
  const texts = fc.array(fc.constantFrom('a b c', 'a b d', 'x', 'y z'), { maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (old, now) => {
      const [before, after] = [chat(...old), chat(...now)];
      const rows = compareMessages(before, after) ?? [];
      const placesIn = (side: 'before' | 'after') =>
        rows.flatMap((row) =>
          side in row && row.kind !== 'same' ? [(row as { before: number; after: number })[side]] : [],
        );
      const same = rows.flatMap((row) =>
        row.kind === 'same' ? [...Array(row.count).keys()].map((n) => row.after + n) : [],
      );
      expect([...placesIn('after'), ...same].toSorted((a, b) => a - b)).toEqual([...after.keys()]);
      expect(placesIn('before')).toHaveLength(before.length - same.length);
    }),
  );
});

test('words of any two texts that have enough in common make up both', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '猫', 'é', '.'), maxLength: 40 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const words = compareWords(before, after);
      if (words === undefined) return;
      const textOf = (left: 'removed' | 'added') =>
        words
          .filter(({ kind }) => kind !== left)
          .map((run) => run.text)
          .join('');
      expect([textOf('added'), textOf('removed')]).toEqual([before, after]);
    }),
  );
});

test('words that changed together are one phrase, and scripts without spaces are compared by character', () => {
  expect(compareWords('say hello world to all of them', 'say good bye to all of them')).toEqual([
    { kind: 'same', text: 'say ' },
    { kind: 'removed', text: 'hello world' },
    { kind: 'added', text: 'good bye' },
    { kind: 'same', text: ' to all of them' },
  ]);
  expect(compareWords('私は猫が好き', '私は犬が好き')?.map(({ text }) => text)).toEqual([
    '私は',
    '猫',
    '犬',
    'が好き',
  ]);
});

test('a secret is never compared in parts, of which nobody would know that they have to be masked', () => {
  const secret = (end: string) => `the key is sk-${'a'.repeat(20)}-${end} and it works for all of them`;
  const changed = compareWords(secret('one'), secret('two'))?.filter(({ kind }) => kind !== 'same');
  expect(changed?.map(({ text }) => text)).toEqual([`sk-${'a'.repeat(20)}-one`, `sk-${'a'.repeat(20)}-two`]);
});

test('two images of the same kind are different messages, and the id of a call makes no difference', () => {
  const conversation = (data: string, id: string) =>
    conversationOf(
      {
        id: undefined,
        text: '',
        llm: {
          system: undefined,
          prompt: JSON.stringify([
            { role: 'user', content: [{ type: 'image', mimeType: 'image/png', data }] },
            { role: 'assistant', tool_calls: [{ id, function: { name: 'look', arguments: '{}' } }] },
          ]),
          response: 'done',
          tools: [],
          toolCalls: [],
          usage: {} as never,
        },
        attributes: [],
        sourcePackage: undefined,
        sourceFunction: undefined,
      },
      '',
    );
  expect(compareMessages(conversation('aaaa', '1'), conversation('bbbb', '2'))).toEqual([
    { kind: 'removed', before: 0 },
    { kind: 'added', after: 0 },
    { kind: 'same', after: 1, count: 2 },
  ]);
});
