import { expect, test } from 'vitest';
import { readCode } from './read-code.ts';

const partsOf = (code: string) => readCode(code).map(({ kind, from, to }) => [kind, code.slice(from, to)]);

test.each([
  [
    'TypeScript',
    "const url = `a b`; // it's\nreturn 'x' + 1_000.5;",
    [
      ['keyword', 'const'],
      ['string', '`a b`'],
      ['comment', "// it's"],
      ['keyword', 'return'],
      ['string', "'x'"],
      ['number', '1_000.5'],
    ],
  ],
  [
    'Python',
    'def f(): # why\n  return "a\\"b"',
    [
      ['keyword', 'def'],
      ['comment', '# why'],
      ['keyword', 'return'],
      ['string', '"a\\"b"'],
    ],
  ],
  [
    'SQL',
    "SELECT a FROM t -- all\nWHERE b = 'c'",
    [
      ['keyword', 'SELECT'],
      ['keyword', 'FROM'],
      ['comment', '-- all'],
      ['keyword', 'WHERE'],
      ['string', "'c'"],
    ],
  ],
  [
    'JSON',
    '{"a": [true, 0x1f, -1e9]}',
    [
      ['string', '"a"'],
      ['keyword', 'true'],
      ['number', '0x1f'],
      ['number', '1e9'],
    ],
  ],
  [
    'an open text, which ends with its line',
    'say "hello\nlet it',
    [
      ['string', '"hello'],
      ['keyword', 'let'],
    ],
  ],
  ['an apostrophe within a word', "don't let", [['keyword', 'let']]],
])('the parts of %s are found', (_, code, parts) => {
  expect(partsOf(code)).toEqual(parts);
});
