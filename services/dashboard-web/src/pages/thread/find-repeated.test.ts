import { expect, test } from 'vitest';
import { findRepeated } from './repeated-text.ts';

test.each([
  ['a\nb\nc', 'a\nb', 'a\nb\n', 2],
  ['a\nb\n', 'a\nb\n', 'a\nb\n', 2],
  ['a', 'a', 'a', 1],
  // A line that only begins alike is not folded.
  ['a\nbc', 'a\nb', 'a\n', 1],
  ['ab\nc', 'a', '', 0],
  ['b', 'a', '', 0],
  ['', '', '', 0],
  ['a', '', '', 0],
  ['[{"a":1},{"b":2}]', '[{"a":1}]', '[{"a":1},', 0],
  ['[{"a":1},{"b":2},{"c":3}]', '[{"a":1},{"b":2},{"d":4}]', '[{"a":1},{"b":2},', 0],
  ['[{"a":1}]', '[{"a":2}]', '', 0],
])('%j after %j repeats %j', (text, before, repeated, lines) => {
  const found = findRepeated(text, before);
  expect(text.slice(0, found.end)).toBe(repeated);
  expect(found.lines).toBe(lines);
});
