import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
let files: string[];
const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
beforeAll(async () => {
  stub = await WeirStub.start();
  directory = mkdtempSync(join(tmpdir(), 'weir-test-package-'));
  // `npm pack` builds the package first, by its prepack script.
  const args = ['pack', '--json', '--pack-destination', directory];
  // The output of the build comes before the JSON.
  const output = execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8', stdio: 'pipe' });
  const packed: unknown = JSON.parse(output.slice(output.search(/^[[{]$/m)));
  const [entry] = Array.isArray(packed) ? packed : Object.values(packed as object).flat();
  archive = join(directory, entry.filename);
  files = entry.files.map(({ path }: { path: string }) => path);
});
afterAll(async () => {
  await stub.close();
  rmSync(directory, { recursive: true });
});

test('the package has the build of each entry, its types and its licence, and nothing else', () => {
  const targets = Object.values<string | Record<string, string>>(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  );
  expect(targets.length).toBeGreaterThan(20);
  expect(files).toEqual(expect.arrayContaining(targets.map((target) => target.replace('./', ''))));
  const others = files.filter((file) => !/^dist\/[\w/-]+(\.js|\.d\.ts)$/.test(file));
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
});

test('older TypeScript finds the types of each entry', () => {
  const entries = Object.keys(manifest.exports).flatMap((entry) => /^\.\/([\w-]+)$/.exec(entry)?.[1] ?? []);
  expect(Object.keys(manifest.typesVersions['*'])).toEqual(entries);
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
