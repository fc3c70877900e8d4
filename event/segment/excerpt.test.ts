import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findTextInSegment, wantedText } from './find-text.ts';

/** The excerpt of an event with this JSON. */
const excerptOf = (json: string, text: string, matchCase = false) =>
  findTextInSegment(Buffer.from(`{"events":[${json}]}`), wantedText(text, matchCase))[0]?.excerpt;

test.each([
  [
    'a string',
    '{"properties":{"llm":{"input":{"prompt":"Lock the bike\\nto a needle, twice"}}}}',
    { path: 'properties.llm.input.prompt', before: 'Lock the bike\nto a ', hit: 'needle', after: ', twice' },
  ],
  [
    'an element',
    '{"a":[{"b":[1,"x"]},{"b":["x",["Needle"]]}],"c":"needle"}',
    { path: 'a[1].b[1][0]', before: '', hit: 'Needle', after: '' },
  ],
  [
    'an odd key',
    '{"additionalProperties":{"user\\"s tier":"no needle"}}',
    { path: 'additionalProperties["user\\"s tier"]', before: 'no ', hit: 'needle', after: '' },
  ],
  [
    'a key with escapes, and escapes before',
    '{"\\u0061\\\\":"\\\\","b":"\\u00fc\\"needle\\u0021"}',
    { path: 'b', before: 'ü"', hit: 'needle', after: '!' },
  ],
  [
    'the payload rather than a name around it',
    '{"context":{"agentId":"needle"},"properties":{"tool":{"needle":{},"input":{"n":"a needle"}}}}',
    { path: 'properties.tool.input.n', before: 'a ', hit: 'needle', after: '' },
  ],
  ['a value after keys', '{"needle":1,"a":"needles"}', { path: 'a', before: '', hit: 'needle', after: 's' }],
  ['keys only', '{"a":{"needle" : 1}}', { path: 'a.needle', before: '', hit: 'needle', after: '' }],
])('the excerpt of %s says where it stands', (_, json, expected) => {
  expect(excerptOf(json, 'needle')).toEqual(expected);
});

test('numbers and literals are found whole', () => {
  const json = '{"a":[17,{"b":-1425.5 }],"c":true}';
  expect(excerptOf(json, '42')).toEqual({ path: 'a[1].b', before: '-1', hit: '42', after: '5.5' });
  expect(excerptOf(json, 'RU')).toEqual({ path: 'c', before: 't', hit: 'ru', after: 'e' });
});

test('a long text is cut between words, so that half of a secret is never shown', () => {
  const secret = `sk-${'a1'.repeat(100)}`;
  const text = `${secret} a needle, and then ${secret}`;
  expect(excerptOf(JSON.stringify({ text }), 'needle')).toMatchObject({
    before: '… a ',
    after: ', and then …',
  });
  const long = excerptOf(
    JSON.stringify({ text: `${'hay '.repeat(50)}needle${' hay'.repeat(50)}` }),
    'needle',
  );
  expect(long?.before).toMatch(/^… (hay )+$/);
  expect(long?.after).toMatch(/^( hay)+ …$/);
});

test('an excerpt is a part of the text around the hit, in any encoding', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(texts, texts, fc.boolean(), (left, right, isAscii) => {
      const text = `${left}NEEDLE${right}`;
      const json = JSON.stringify({ [left.slice(0, 3)]: '', text });
      const written = isAscii
        ? json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        : json;
      const { path, before, hit, after } = excerptOf(written, 'NEEDLE', true) ?? {};
      expect([path, hit]).toEqual(['text', 'NEEDLE']);
      const [start, end] = [before?.replace(/^…/, ''), after?.replace(/…$/, '')];
      expect(text).toContain(`${start}NEEDLE${end}`);
      if (!before?.startsWith('…')) expect(start).toBe(left);
      if (!after?.endsWith('…')) expect(end).toBe(right);
    }),
  );
});
