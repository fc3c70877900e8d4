import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WeirStub } from './support/weir-stub.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));

let stub: WeirStub;
let directory: string;
let archive: string;
beforeAll(async () => {
  stub = await WeirStub.start();
  directory = mkdtempSync(join(tmpdir(), 'weir-test-package-'));
  // `npm pack` builds the package first, by its prepack script.
  execFileSync('npm', ['pack', '--pack-destination', directory], { cwd: packageRoot, stdio: 'pipe' });
  archive = join(directory, 'weir-sdk-0.1.0.tgz');
});
afterAll(async () => {
  await stub.close();
  rmSync(directory, { recursive: true });
});

const programs = {
  module: `import { Weir } from '@weir/sdk'; import { fileSpool } from '@weir/sdk/spool';`,
  commonjs: `const { Weir } = require('@weir/sdk'); const { fileSpool } = require('@weir/sdk/spool');`,
};

test.each(Object.entries(programs))('the package works in a project of type %s', async (type, imports) => {
  const project = join(directory, type);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type }));
  execFileSync('npm', ['install', '--offline', archive], { cwd: project, stdio: 'pipe' });
  writeFileSync(
    join(project, 'main.js'),
    `${imports}
const weir = new Weir({ url: '${stub.url}', apiKey: 'key', spool: fileSpool({ directory: 'spool' }) });
weir.record({ type: 'tool', properties: { tool: { name: '${type}' } } });
`,
  );
  const child = spawn(execPath, ['main.js'], { cwd: project, stdio: 'inherit' });
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(stub.events.at(-1)?.properties.tool?.name).toBe(type);
});
