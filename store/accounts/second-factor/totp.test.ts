import { expect, test } from 'vitest';
import { createTotpSecret, findTotpStep, totpUri } from './totp.ts';

/** RFC 6238, appendix B, SHA-1: the last six of eight digits. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i s the code of RFC 6238 is accepted', (seconds, code) => {
  expect(findTotpStep(secret, code, seconds * 1_000)).toBe(Math.floor(seconds / 30));
});

test('a code is accepted one step early and one step late, and names its own step', () => {
  const step = Math.floor(1_234_567_890 / 30);
  for (const away of [-1, 0, 1]) expect(findTotpStep(secret, '005924', (step + away) * 30_000)).toBe(step);
  for (const away of [-2, 2]) expect(findTotpStep(secret, '005924', (step + away) * 30_000)).toBeUndefined();
});

test('other texts are no codes', () => {
  for (const code of ['', '005925', '05924', '0059240', 'abcdef', '００５９２４'])
    expect(findTotpStep(secret, code, 1_234_567_890_000)).toBeUndefined();
});

test('a new secret has 160 bits, and its URI has what apps need', () => {
  const created = createTotpSecret();
  expect(created).toMatch(/^[A-Z2-7]{32}$/);
  expect(createTotpSecret()).not.toBe(created);
  const uri = new URL(totpUri(created, 'ada+x@example.org'));
  expect([uri.protocol, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    expect.stringContaining('Weir:ada+x@example.org'),
  ]);
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret: created, digits: '6', period: '30' });
});
