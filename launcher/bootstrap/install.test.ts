import { env } from 'node:process';
import { expect, test } from 'vitest';
import { areScriptsDisabled } from './install.mjs';

test.each(['true', 'false'])('that install scripts are disabled is read from npm: %s', async (value) => {
  const variables = { ...env, npm_config_ignore_scripts: value };
  expect(await areScriptsDisabled('/', variables)).toBe(value === 'true');
});
