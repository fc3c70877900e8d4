import { expect, test } from 'vitest';
import { endedSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts';

test('the cookie is out of reach of scripts and other sites, and lasts thirty days', () => {
  const cookie = 'weir_session=abc; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax';
  expect(sessionCookie('abc', false)).toBe(cookie);
  expect(sessionCookie('abc', true)).toBe(`${cookie}; Secure`);
});

test('signing out makes the browser drop the cookie', () => {
  expect(endedSessionCookie(true)).toBe('weir_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure');
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['weir_session=', undefined],
  ['other=1', undefined],
  ['xweir_session=1', undefined],
  ['a=b; weir_session=abc;c=d', 'abc'],
])('the cookie header %j holds the token %j', (header, token) => {
  expect(readSessionCookie(header)).toBe(token);
});
