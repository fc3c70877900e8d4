import { expect, test } from 'vitest';
import { type AskedValues, completeAt, toOptions } from './completion.ts';
import { parseQueryText } from './query-text.ts';

test('a typed query has conditions and words', () => {
  expect(parseQueryText('model:gpt-4o -user:"Mia Li" attr.plan:pro http://x refund me')).toEqual({
    conditions: [
      { field: 'name', value: 'gpt-4o', isExcluded: false },
      { field: 'userId', value: 'Mia Li', isExcluded: true },
      { field: 'attr.plan', value: 'pro', isExcluded: false },
    ],
    text: 'http://x refund me',
  });
});

test('comparisons are typed as took, tokens and cost', () => {
  expect(parseQueryText('took:>10s cost:0.1..1 slow').conditions).toEqual([
    { field: 'duration', value: '>10s', isExcluded: false },
    { field: 'cost', value: '0.1..1', isExcluded: false },
  ]);
  expect(parseQueryText('took:10').problem?.message).toContain('not a comparison');
  expect(parseQueryText('-took:>10s').problem?.message).toContain('opposite');
});

test('notes are typed as has:note, a label, or a label with a value or a comparison', () => {
  expect(
    parseQueryText('has:note label:thumbs-down -label.quality:<0.5 label."two words":good').conditions,
  ).toEqual([
    { field: 'has', value: 'note', isExcluded: false },
    { field: 'label', value: 'thumbs-down', isExcluded: false },
    { field: 'label.quality', value: '<0.5', isExcluded: true },
    { field: 'label.two words', value: 'good', isExcluded: false },
  ]);
  expect(parseQueryText('has:cats').problem?.message).toContain('has:note');
  expect(parseQueryText('label.quality:<bad').problem?.message).toContain('label.quality:<0.5');
  expect(completeAt('label:th', 8)?.asked).toEqual({ fields: ['label'], prefix: 'th' });
});

test.each([
  ['usr:mia', 'user'],
  ['userid:mia', 'user'],
  ['user_id:mia', 'user'],
  ['modle:gpt-4o', 'model'],
  ['threads:t', 'thread'],
  ['token:>5', 'tokens'],
  ['region:5', undefined],
  ['plan:pro', undefined],
])('%s is no search in texts: it is asked whether %s was meant', (query, similar) => {
  const { conditions, text, problem } = parseQueryText(`refund ${query}`);
  expect({ conditions, text }).toEqual({ conditions: [], text: '' });
  const [name, value] = query.split(':');
  const names = [...(similar === undefined ? [] : [similar]), `attr.${name}`];
  expect(problem?.message.includes('Did you mean')).toBe(similar !== undefined);
  expect(problem?.fixes.map((fix) => fix.query)).toEqual([
    ...names.map((one) => `refund ${one}:${value}`),
    `refund "${query}"`,
  ]);
});

test.each([
  ['http://x.example/a', 'http://x.example/a'],
  ['at 12:30', 'at 12:30'],
  ['error: timeout', 'error: timeout'],
  ['"usr:mia" and "two words"', 'usr:mia and two words'],
  ['C:\\files', 'C:\\files'],
])('%s is text', (query, text) => {
  expect(parseQueryText(query)).toEqual({ conditions: [], text });
});

test('fields and values are completed at the cursor, and options keep what is around them', () => {
  const options = (text: string, cursor = text.length) =>
    completeAt(text, cursor)?.options.map(({ insert }) => insert);
  expect(options('t')).toEqual(['type:', 'tool:', 'thread:', 'trace:', 'took:', 'tokens:']);
  expect(options('refund -us')).toEqual(['user:']);
  expect(options('state:')).toEqual(['ok ', 'error ']);
  expect(options('took:>1')).toEqual(['>1s ', '>10s ', '>1m ']);
  expect(completeAt('refund xyz', 10)).toMatchObject({ start: 7, options: [], word: 'xyz' });
  expect(completeAt('refund -xyz', 11)).toBeUndefined();
  expect(completeAt('us refund', 2)).toMatchObject({ start: 0, end: 2 });
  expect(completeAt('-user:mi x', 8)).toMatchObject({
    start: 6,
    end: 8,
    asked: { fields: ['userId'], prefix: 'mi' },
  });
  expect(completeAt('user:"Mia L', 11)).toMatchObject({ start: 5, asked: { prefix: 'Mia L' } });
  expect(completeAt('attr.pl', 7)?.asked).toEqual({ fields: ['attribute'], prefix: 'pl' });
  expect(completeAt('attr.plan:p', 11)?.asked).toEqual({ fields: ['attr.plan'], prefix: 'p' });
  expect(completeAt('nofield:x', 9)).toBeUndefined();
  const asked: AskedValues = { fields: ['userId'], prefix: '' };
  expect(toOptions(asked, ['mia', 'Mia Li', 'a"b']).map(({ insert }) => insert)).toEqual([
    'mia ',
    '"Mia Li" ',
    String.raw`"a\"b" `,
  ]);
  expect(
    toOptions({ fields: ['attribute'], prefix: '' }, ['plan', 'a b']).map(({ insert }) => insert),
  ).toEqual(['attr.plan:', 'attr."a b":']);
});

test.each([
  ['attr.user-tier:pro', 'attr.user-tier', 'pro'],
  [String.raw`attr."x/y":"a \"b\""`, 'attr.x/y', 'a "b"'],
  ['status:error', 'state', 'error'],
  ['latency:>5s', 'duration', '>5s'],
])('%s filters by %s', (query, field, value) => {
  expect(parseQueryText(query)).toEqual({ conditions: [{ field, value, isExcluded: false }], text: '' });
});
