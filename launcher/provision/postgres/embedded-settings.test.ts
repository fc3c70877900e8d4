import { expect, test } from 'vitest';
import { embeddedSettings } from './embedded-settings.ts';

test.each([
  { memory: 1, buffers: '256MB' },
  { memory: 16, buffers: '2048MB' },
  { memory: 64, buffers: '4096MB' },
])('with $memory GiB of memory Postgres has $buffers of shared buffers', ({ memory, buffers }) => {
  const settings = embeddedSettings({ cores: 2, memoryBytes: memory * 1024 ** 3 });
  expect(settings.shared_buffers).toBe(buffers);
});
