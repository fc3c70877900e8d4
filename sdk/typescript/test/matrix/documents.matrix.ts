import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Provider, startProvider } from '../support/provider.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { packageRoot, versions } from './places.ts';

const run = promisify(execFile);

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const documents = ['docs/sdk.md', 'sdk/typescript/README.md'];

/** The complete programs of the documents: those that create a `Weir`. */
const programs = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map(([, program = '']) => program)
    .filter((program) => program.includes('new Weir('))
    .map((program) => ({ document, imports: importsOf(program), program })),
);

/** What a program shows: the packages other than the root of the SDK. */
function importsOf(program: string): string {
  const names = [...program.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
  return names.filter((name) => name !== '@weir/sdk').join(', ');
}

let provider: Provider;
let stub: WeirStub;
let directory: string;
beforeAll(async () => {
  provider = await startProvider({ fallback: 'text' });
  stub = await WeirStub.start();
  // Inside the folder of the versions, so that programs find the other packages.
  directory = mkdtempSync(join(versions, '.weir-documents-'));
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', directory], {
    cwd: packageRoot,
    stdio: 'ignore',
  });
  const target = join(directory, 'node_modules', '@weir', 'sdk');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(directory, archiveName()), '-C', target, '--strip-components=1']);
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }');
  const compilerOptions = {
    ...{ noEmit: true, strict: true, module: 'nodenext', target: 'es2022', skipLibCheck: true },
    ...{ types: ['node'], typeRoots: [join(versions, 'node_modules', '@types')] },
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  writeFileSync(join(directory, 'reroute.mjs'), reroute(provider.url));
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await stub.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => stub.accepted.clear());

test('each entry point of the package is in a program', () => {
  const { exports } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const shown = programs.map(({ program }) => program).join('\n');
  const missing = Object.keys(exports).filter((entry) => !shown.includes(`'@weir/sdk${entry.slice(1)}'`));
  // The same functions as methods of `Weir`, and the parts that all entries have.
  expect(missing).toEqual(['./core', './openai', './anthropic', './package.json']);
});

test.each(programs)(
  '$document: a program with $imports compiles, and records its call',
  async ({ imports, program }) => {
    const file = join(directory, 'program.ts');
    writeFileSync(file, program);
    await compile(directory);
    const { WEIR_DISABLED: _, NODE_ENV: __, ...variables } = env;
    await run(execPath, ['--import', join(directory, 'reroute.mjs'), file], {
      cwd: directory,
      env: {
        ...variables,
        WEIR_URL: stub.url,
        WEIR_API_KEY: 'key',
        ...Object.fromEntries(
          ['OPENAI', 'ANTHROPIC', 'MISTRAL', 'GEMINI'].map((name) => [`${name}_API_KEY`, 'k']),
        ),
      },
    });
    // The program for the spool has no call.
    const records = imports.includes('/spool') ? 0 : 1;
    expect(stub.events).toHaveLength(records);
    for (const { status, properties } of stub.events) {
      expect(status).toEqual({ state: 'ok' });
      expect(properties.llm?.usage?.totalTokens).toBeGreaterThan(0);
    }
  },
);

async function compile(project: string): Promise<void> {
  try {
    await run('tsc', ['-p', project]);
  } catch (error) {
    throw new Error(`The program does not compile:\n${(error as { stdout?: string }).stdout}`);
  }
}

function archiveName(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return `weir-sdk-${version}.tgz`;
}

/** Sends what is for a provider to the one of the test: the programs are run as they are printed. */
function reroute(url: string): string {
  return `
const hosts = /(openai|anthropic|mistral|googleapis)\\.(com|ai)$|^127\\.0\\.0\\.1:11434$/;
const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  const url = new URL(input.url ?? input);
  if (!hosts.test(url.host)) return fetch(input, init);
  // The tracing of the Agents SDK itself.
  if (url.pathname.includes('/traces/')) return Promise.resolve(new Response(null, { status: 204 }));
  const target = new URL(url.pathname + url.search, '${new URL(url).origin}');
  return fetch(input instanceof Request ? new Request(target, input) : target, init);
};
`;
}
