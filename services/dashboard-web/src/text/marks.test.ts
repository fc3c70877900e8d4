import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../harness/fixtures/any-character.ts';
import { createApiKey } from '../../../../store/accounts/api-key.ts';
import { cutOutsideSecret, splitText } from './marks.ts';
import { describeText } from './shown-text.tsx';
import { splitLines } from './split-lines.ts';

const kinds = (text: string) => splitText(text).map((part) => (part.kind === 'mark' ? part.name : part.kind));

test.for([
  ['a null', '\0', '\\u0000'],
  ['half of a surrogate pair', '\ud800', '\\ud800'],
  ['a right-to-left override', '\u202e', '\\u202e'],
  ['a zero-width space', '\u200b', '\\u200b'],
  ['an escape of a terminal', '\x1b', '\\u001b'],
  ['a line separator', '\u2028', '\\u2028'],
  ['a tag', '\u{e0041}', '\\udb40\\udc41'],
  ['a joiner between letters', '\u200d', '\\u200d'],
])('%s is visible', ([, character, name]) => {
  expect(kinds(`a${character}b`)).toEqual(['plain', name, 'plain']);
});

test('line ends, tabs, other scripts and emoji are plain', () => {
  expect(kinds('a\n\tüñ שלום 漢字 👨‍👩‍👧 🏳️‍🌈')).toEqual(['plain']);
});

test('secrets are parts of their own', () => {
  const key = `weir_${'aB3'.repeat(12)}xy`;
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P';
  expect(
    splitText(`key ${key}, sk-proj-abcdefghijklmnop and ${token}.`).filter(({ kind }) => kind === 'secret'),
  ).toEqual([
    { kind: 'secret', text: key },
    { kind: 'secret', text: 'sk-proj-abcdefghijklmnop' },
    { kind: 'secret', text: token },
  ]);
});

test.for([
  ['beginnings of tokens without an end', '-eyJaaaaaaaa'],
  ['parts of tokens', '.eyJaaaaaaaa'],
  ['parts with hyphens', '-eyJaaaaaaaa.eyJaaaaaaaa-'],
  ['beginnings of keys', '-sk-'],
])('a text of megabytes of %s is searched once', ([, repeated = '']) => {
  // A search that begins anew at each beginning would take hours.
  const text = repeated.repeat(4_000_000 / repeated.length);
  expect(splitText(text).reduce((length, part) => length + part.text.length, 0)).toBe(text.length);
});

test('a token is found behind other words, beside a key, and not without its three parts', () => {
  const token = 'eyJhbGciOiJI.eyJzdWIiOiIx.dozjgNryP4J3';
  expect(splitText(`a-${token}`).at(-1)).toEqual({ kind: 'secret', text: token });
  expect(splitText(`sk-${'a'.repeat(16)}-${token}`)).toEqual([
    { kind: 'secret', text: `sk-${'a'.repeat(16)}-${token}` },
  ]);
  for (const none of ['eyJhbGciOiJI.eyJzdWIiOiIx', 'aeyJhbGciOiJI.eyJzdWIiOiIx.dozjgNryP4J3'])
    expect(kinds(none)).toEqual(['plain']);
});

test('a key that Weir issues is masked wherever a text is cut', () => {
  for (let round = 0; round < 10; round++) {
    const key = createApiKey();
    const text = `${'word '.repeat(20)}${key} ${'x'.repeat(round)}${createApiKey()}`;
    for (let at = 1; at < text.length; at++) {
      const cut = cutOutsideSecret(text, at);
      expect(
        splitText(text.slice(0, cut))
          .concat(splitText(text.slice(cut)))
          .filter(({ kind }) => kind === 'secret'),
      ).toHaveLength(2);
    }
    for (const line of splitLines(text, 40)) expect(describeText(line)).not.toMatch(/weir_\w/);
  }
});

test('the parts are the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(
        splitText(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
    }),
  );
});
