import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandOf, dist, packageRoot, versions } from './places.ts';

const run = promisify(execFile);

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

let directory: string;
let archive: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-test-package-'));
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const output = JSON.parse(execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8' }));
  const [{ filename }] = Array.isArray(output)
    ? output
    : Object.values<{ filename: string }[]>(output).flat();
  archive = join(directory, filename);
});
afterAll(() => rmSync(directory, { recursive: true }));

test('publint reports no problem', async () => {
  const { stdout } = await run(commandOf('publint'), ['--strict', packageRoot]);
  expect(stdout).toContain('All good!');
});

test('attw reports no problem', async () => {
  const { stdout } = await run(commandOf('attw'), [archive, '--profile', 'esm-only', '--format', 'json']);
  const { analysis } = JSON.parse(stdout);
  expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(manifest.exports));
  const kinds = analysis.problems.filter(({ resolutionKind = '' }) => !/^node16-cjs$/.test(resolutionKind));
  expect(kinds).toEqual([]);
});

/** Most bytes of an entry, bundled, minified and gzipped. */
const sizesMax: [entry: string, bytesMax: number][] = [
  ['core', 10 * 1024],
  ['openai', 10 * 1024],
  ['anthropic', 10 * 1024],
  ['ai', 10 * 1024],
  ['mistral', 10 * 1024],
  ['ollama', 10 * 1024],
  ['google', 10 * 1024],
  ['langchain', 10 * 1024],
  ['openai-agents', 10 * 1024],
  ['spool', 10 * 1024],
  // The core, and the adapters of three APIs for whole responses and streams.
  ['index', 17 * 1024],
];

test.each(sizesMax)('%s has at most %i bytes', async (entry, bytesMax) => {
  const output = join(directory, `${entry}.js`);
  const platform = entry === 'spool' ? 'node' : 'browser';
  const options = ['--bundle', '--minify', '--format=esm', `--platform=${platform}`, `--outfile=${output}`];
  // Bundling fails if an entry other than the spool imports a module of Node.
  await run(commandOf('esbuild'), [join(dist, `${entry}.js`), ...options]);
  expect(gzipSync(readFileSync(output)).length).toBeLessThanOrEqual(bytesMax);
});

test('it has no dependencies', () => {
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
});

const program = `import { Weir, type WeirEvent } from '@weir/sdk';
import { Recorder } from '@weir/sdk/core';
import { weirTelemetry } from '@weir/sdk/ai';
import { openaiFetch } from '@weir/sdk/openai';
import { anthropicMiddleware } from '@weir/sdk/anthropic';
import { observeMistral } from '@weir/sdk/mistral';
import { observeOllama } from '@weir/sdk/ollama';
import { observeGoogle } from '@weir/sdk/google';
import { observeLangChain, weirCallbacks } from '@weir/sdk/langchain';
import { weirTraceProcessor } from '@weir/sdk/openai-agents';
import { fileSpool } from '@weir/sdk/spool';
const weir: Recorder = new Weir({ mask: (event: WeirEvent) => event, spool: fileSpool({ directory: 'x' }) });
export const parts = [weirTelemetry(weir), openaiFetch(weir), anthropicMiddleware(weir)];
export const frameworks = [observeLangChain(weir, {}), weirCallbacks(weir), weirTraceProcessor(weir)];
export const clients = [observeMistral(weir, {}), observeOllama(weir, {}), observeGoogle(weir, {})];
// @ts-expect-error: there is no such type.
weir.record({ type: 'other', properties: {} });
`;

const typescript50 = join(versions, 'node_modules', 'typescript-5.0', 'bin', 'tsc');

test.each([
  ['tsc', 'module', 'nodenext', 'nodenext'],
  ['tsc', 'commonjs', 'nodenext', 'nodenext'],
  [typescript50, 'module', 'node16', 'node16'],
  [typescript50, 'module', 'esnext', 'bundler'],
  [typescript50, 'module', 'esnext', 'node'],
  [typescript50, 'commonjs', 'commonjs', 'node'],
])('%s compiles a project of type %s with --module %s --moduleResolution %s', async (...options) => {
  const [compiler, type, module, resolution] = options;
  const project = mkdtempSync(join(directory, 'project-'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type }));
  execFileSync('npm', ['install', '--offline', archive], { cwd: project, stdio: 'ignore' });
  writeFileSync(join(project, 'main.ts'), program);
  const flags = {
    module,
    moduleResolution: resolution,
    target: 'es2022',
    skipLibCheck: 'false',
    types: 'node',
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const typeRoots = ['--typeRoots', join(versions, 'node_modules', '@types')];
  await run(compiler, ['--noEmit', '--strict', ...args, ...typeRoots, 'main.ts'], { cwd: project });
});
