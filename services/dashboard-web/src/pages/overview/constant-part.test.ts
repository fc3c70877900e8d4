import { expect, test } from 'vitest';
import { constantPart } from './constant-part.ts';

test.each([
  ['Timeout after 3012 ms', 'Timeout after'],
  ['no order ord_83651 of 0f1e2d3c-0a1b-4c3d-8e4f-5a6b7c8d9e0f exists', 'no order ord_'],
  ['rate limit', 'rate limit'],
  ['429', ''],
])('all errors like “%s” have “%s”', (message, part) => {
  expect(constantPart(message)).toBe(part);
});
