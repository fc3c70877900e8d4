import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from './indent-json.ts';

test('any JSON is indented as JSON.stringify does it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('numbers and escapes stay as they were written', () => {
  expect(indentJson('{"a":[18446744073709551615,1.50],"b":"\\u0041\\/","c":{}}')).toBe(
    '{\n  "a": [\n    18446744073709551615,\n    1.50\n  ],\n  "b": "\\u0041\\/",\n  "c": {}\n}',
  );
});
