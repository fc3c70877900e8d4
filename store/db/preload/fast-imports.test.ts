import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inheritedEnvironment } from '../../../test/support/run/inherited-environment.ts';

const hooks = new URL('fast-imports.ts', import.meta.url).href;
const service = fileURLToPath(new URL('../../../services/dashboard-api/main.ts', import.meta.url));

/** Records how each import resolves. Registered last, it is asked first. */
const recorder = `data:text/javascript,${encodeURIComponent(`
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { url, format } = nextResolve(specifier, context);
    appendFileSync(process.env.RECORD, JSON.stringify({ specifier, parent: context.parentURL, url, format }) + '\\n');
    return { url, format, shortCircuit: true };
  },
});`)}`;

test('every import of a service resolves as it does without the hooks', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'weir-imports-'));
  const record = async (name: string, imports: string[]) => {
    const file = join(directory.path, name);
    const args = imports.map((one) => `--import=${one}`);
    // Without a configuration it loads its code and exits.
    const running = promisify(execFile)(execPath, [...args, service], {
      env: { ...inheritedEnvironment(), RECORD: file },
    });
    await expect(running).rejects.toMatchObject({ code: 1 });
    return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  };
  const [fast, plain] = [await record('fast', [hooks, recorder]), await record('plain', [recorder])];
  expect(plain.length).toBeGreaterThan(1_000);
  expect(fast.toSorted()).toEqual(plain.toSorted());
});
