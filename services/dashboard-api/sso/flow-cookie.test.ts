import { expect, test } from 'vitest';
import { flowCookie, readFlowCookie } from './flow-cookie.ts';

const site = 'https://weir.example';
const flow = { state: 's', nonce: 'n', codeVerifier: 'v', to: '/s/x?name=a' };
const header = (to: string) => flowCookie(site, { ...flow, to }).split(';')[0];

test('a flow survives a round trip through a cookie that scripts and subdomains cannot set', () => {
  expect(flowCookie(site, flow)).toMatch(
    /^__Host-weir_sso_443=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(readFlowCookie(header(flow.to), site)).toEqual(flow);
});

test.each([
  '//evil.example',
  '/.//evil.example',
  '/a/../..//evil.example',
  'https://evil.example',
  '/\\evil.example',
])('a cookie set by another site does not redirect to another site: %j', (to) => {
  expect(readFlowCookie(header(to), site)).toEqual({ ...flow, to: '/' });
});
