import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { preloadOption } from '../../../launcher/preload.mjs';
import { inheritedEnvironment } from '../../../test/support/run/inherited-environment.ts';

const program = `
  const { openPostgres } = await import(${JSON.stringify(new URL('../connect.ts', import.meta.url).href)});
  await openPostgres('postgres://127.0.0.1/none', { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 }).end();`;

const open = (options: readonly string[]) =>
  promisify(execFile)(execPath, [...options, '--input-type=module', '--eval', program], {
    env: inheritedEnvironment(),
  });

test('a process whose Postgres driver is not corrected cannot open a pool', async () => {
  await expect(open([])).rejects.toMatchObject({
    stderr: expect.stringContaining('the Postgres driver is not corrected'),
  });
  await open([preloadOption()]);
});
