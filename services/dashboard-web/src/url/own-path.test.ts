import { expect, test } from 'vitest';
import { isOwnPath } from './search.ts';

test.for([
  ['/s/1/events?type=llm', true],
  ['/', true],
  ['//evil.example', false],
  ['/\\evil.example', false],
  ['/\t/evil.example', false],
  ['https://evil.example', false],
  ['javascript:alert(1)', false],
  ['', false],
] as const)('after the sign-in %s is followed: %s', ([text, expected]) => {
  expect(isOwnPath(text)).toBe(expected);
});
