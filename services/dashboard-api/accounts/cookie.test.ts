import { expect, test } from 'vitest';
import { cookieName, keptCookie, readCookie } from './cookie.ts';

const local = { host: '127.0.0.1:8081', isSecure: false };
const secure = { host: 'weir.example.com', isSecure: true };

test('scripts and other sites have no access to the cookie, and it lasts thirty days', () => {
  const attributes = 'Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax';
  expect(keptCookie('session', 'abc', local)).toBe(`weir_session_8081=abc; ${attributes}`);
  expect(keptCookie('session', 'abc', secure)).toBe(`__Host-weir_session_443=abc; ${attributes}; Secure`);
});

test('a sign-in that waits for its second step has a cookie of its own, for five minutes', () => {
  expect(keptCookie('step', 'abc', secure)).toBe(
    '__Host-weir_step_443=abc; Max-Age=300; Path=/; HttpOnly; SameSite=Lax; Secure',
  );
  expect(readCookie('session', 'weir_step_8081=abc', local)).toBeUndefined();
  expect(readCookie('step', 'weir_step_8081=abc', local)).toBe('abc');
});

test('signing out makes the browser delete the cookie', () => {
  expect(keptCookie('session', undefined, secure)).toBe(
    '__Host-weir_session_443=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure',
  );
});

test.each([
  ['127.0.0.1:8081', false, 'weir_session_8081'],
  ['[::1]:8081', false, 'weir_session_8081'],
  ['[::1]', false, 'weir_session_80'],
  ['weir.test', false, 'weir_session_80'],
  ['weir.test:8443', true, '__Host-weir_session_8443'],
  ['weir.test:x; Path=/', true, '__Host-weir_session_443'],
  [undefined, true, '__Host-weir_session_443'],
])('the cookie of the Host %j (TLS: %j) is named %s', (host, isSecure, name) => {
  expect(cookieName('session', { host, isSecure })).toBe(name);
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['weir_session_8081=', undefined],
  ['other=1', undefined],
  ['xweir_session_8081=1', undefined],
  ['weir_session_8082=1', undefined],
  ['weir_session=1', undefined],
  ['a=b; weir_session_8081=abc;c=d', 'abc'],
])('the cookie header %j holds the token %j', (header, token) => {
  expect(readCookie('session', header, local)).toBe(token);
});
