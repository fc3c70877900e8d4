import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { hasText } from './hidden-text.ts';

test('an erased text is found as it is, and in a compressed segment between other bytes', () => {
  const others = randomBytes(5_000);
  // Twice, so that the text is not stored as it is.
  const words = 'the-canary sings, and the-canary sings again; '.repeat(20);
  const frame = zstdCompressSync(JSON.stringify({ words }));
  expect(frame.includes('canary sings again; the-canary sings, and')).toBe(false);
  const page = Buffer.concat([others, zstdCompressSync('kept'), others, frame, others]);
  expect(hasText(page, 'canary sings again; the-canary sings, and')).toBe(true);
  expect(hasText(Buffer.concat([others, Buffer.from('the-canary'), others]), 'the-canary')).toBe(true);
  expect(hasText(page, 'another canary')).toBe(false);
  // A part of a frame is no reason to fail.
  expect(hasText(frame.subarray(0, frame.length - 9), 'another canary')).toBe(false);
});
