import { expect, test } from 'vitest';
import { describeConfiguration } from './reference.ts';

test('docs/configuration.md is what the code says', async () => {
  await expect(describeConfiguration()).toMatchFileSnapshot('../../docs/configuration.md');
});
