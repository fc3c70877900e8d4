import { expect, test } from 'vitest';
import { findPasskeySite } from './passkey-site.ts';

test.each([
  [
    'https://weir.example.com',
    '10.0.0.1:8081',
    { origin: 'https://weir.example.com', rpId: 'weir.example.com' },
  ],
  [
    'https://weir.example.com:8443',
    undefined,
    { origin: 'https://weir.example.com:8443', rpId: 'weir.example.com' },
  ],
  [undefined, 'localhost:8081', { origin: 'http://localhost:8081', rpId: 'localhost' }],
  // Browsers refuse these, or nothing proves the name.
  ['http://weir.example.com', 'weir.example.com', undefined],
  ['https://10.0.0.1', 'localhost:8081', undefined],
  ['https://[::1]', 'localhost:8081', undefined],
  [undefined, '127.0.0.1:8081', undefined],
  [undefined, 'weir.example.com', undefined],
  [undefined, 'localhost.example.com', undefined],
  [undefined, undefined, undefined],
])('with DASHBOARD_PUBLIC_URL %s and Host %s', (publicUrl, host, site) => {
  expect(findPasskeySite(publicUrl, host)).toEqual(site);
});
