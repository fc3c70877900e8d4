import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath, kill } from 'node:process';
import { text as readText } from 'node:stream/consumers';
import packed from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { text } from '../support/provider-bodies.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { commandOf, dist, packageRoot } from './places.ts';

let provider: Provider;
let stub: WeirStub;
let directory: string;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(async () => {
  stub = await WeirStub.start();
  directory = mkdtempSync(join(tmpdir(), 'weir-test-runtime-'));
});
afterEach(async () => {
  await stub.close();
  rmSync(directory, { recursive: true });
});

/** The result of the scenario on every runtime. */
const outcome = {
  result: { accepted: 5, dropped: 0, pending: 0 },
  hasContext: true,
  content: text,
  streamEnd: 'data: [DONE]',
};

function expectEvents(hasAsyncContext: boolean): void {
  const [tool, whole, streamed, stopped, add] = stub.events;
  expect(tool?.properties.tool).toEqual({ name: 'now', input: { big: '1' } });
  if (hasAsyncContext) expect(tool?.context).toEqual({ userId: 'u' });
  expect(whole?.properties.llm?.output?.response).toBe(text);
  expect(streamed?.properties.llm?.output?.toolCalls).toHaveLength(2);
  expect(stopped?.status.error?.code).toBe('aborted');
  expect(add?.properties.tool).toMatchObject({ input: [1, 2], output: 3 });
}

const runtimes: [name: string, command: string, args: string[]][] = [
  // The oldest supported Node, if the machine has it.
  ['the Node of this run', execPath, []],
  ['the Node of the machine', lastOnPath('node'), []],
  ['Bun', commandOf('bun'), []],
  ['Deno', commandOf('deno'), ['run', '--allow-all', '--no-config']],
];

test.each(runtimes)('%s', async (_name, command, args) => {
  const child = spawn(command, [...args, join(packageRoot, 'test', 'runtimes', 'command.js')], {
    env: { ...env, SDK: dist, WEIR_URL: stub.url, PROVIDER_URL: provider.url, SPOOL: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([readText(child.stdout), once(child, 'exit')]);
  expect(JSON.parse(output)).toMatchObject({ ...outcome, pending: 1, spooled: { accepted: 1, pending: 0 } });
  expectEvents(true);
  expect(stub.events.map(({ properties }) => properties.tool?.name).slice(5)).toEqual(['spooled', 'last']);
});

test.each([
  ['', false],
  ['"nodejs_compat"', true],
])('workerd with flags [%s]', async (flags, hasAsyncContext) => {
  await bundle('worker.js', 'browser');
  writeFileSync(join(directory, 'config.capnp'), describeWorker(flags));
  using workerd = serve(commandOf('workerd'), ['serve', '--control-fd=1', join(directory, 'config.capnp')]);
  const { port } = JSON.parse(await firstLine(workerd.child));
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(await answer.json()).toMatchObject({ ...outcome, isShared: true });
  expectEvents(hasAsyncContext);
  const background = await Promise.all(
    [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/?background`)).text()),
  );
  expect(background).toEqual(['recorded', 'recorded', 'recorded']);
  await eventually(() => expect(stub.events).toHaveLength(8), 10_000);
});

test('a browser: across origins, and at the end of the page', async () => {
  await bundle('page.js', 'browser');
  allowOrigins(stub);
  const page = '<!doctype html><title>Test</title><script type="module" src="/page.js"></script>';
  const server = createServer((request, response) => {
    if (request.url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    response.writeHead(200, { 'content-type': 'text/javascript' });
    return response.end(request.url === '/page.js' ? readFileSync(join(directory, 'page.js')) : '');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxied = await proxyWithCors(provider.url);
  const browser = await chromium.launch({ executablePath: await packed.executablePath(), args: packed.args });
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await tab.waitForFunction('globalThis.runScenario');
  const result = await tab.evaluate(`runScenario({ weirUrl: '${stub.url}', providerUrl: '${proxied.url}' })`);
  expect(result).toMatchObject(outcome);
  expectEvents(false);
  await tab.evaluate(`recordAtEnd('${stub.url}', 20)`);
  await tab.goto('about:blank');
  await eventually(() => expect(stub.events).toHaveLength(25), 10_000);
  await browser.close();
  await proxied.close();
  server.closeAllConnections();
  await once(server.close(), 'close');
});

/** The last command of this name on the path: an earlier one may be the Node that runs the tests. */
function lastOnPath(name: string): string {
  return execFileSync('which', ['-a', name], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? name;
}

function bundle(entry: string, platform: string): Promise<unknown> {
  const source = join(packageRoot, 'test', 'runtimes', entry);
  const options = [
    '--bundle',
    '--format=esm',
    `--platform=${platform}`,
    `--outfile=${join(directory, entry)}`,
  ];
  return once(
    spawn(commandOf('esbuild'), [source, ...options], { stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );
}

function describeWorker(flags: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [
    (name = "WEIR_URL", text = "${stub.url}"),
    (name = "PROVIDER_URL", text = "${provider.url}"),
  ],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = [${flags}],
);
`;
}

function serve(command: string, args: string[]): Disposable & { child: ChildProcess } {
  // Start a process group: the command is a script of npm, and killing only the script would leave the server
  // running.
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const end = () => void (child.pid !== undefined && kill(-child.pid, 'SIGKILL'));
  return { child, [Symbol.dispose]: end };
}

/** The first message of workerd's control pipe: the port that it listens on. */
async function firstLine(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += chunk;
    const line = output.split('\n').find((part) => part.includes('"listen"'));
    if (line !== undefined) return line;
  }
  throw new Error(`workerd never listened: ${output}`);
}

/** Adds Weir's CORS headers for a page of another origin, like INGEST_ALLOWED_ORIGINS. */
function allowOrigins(weir: WeirStub): void {
  weir.respond = (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    if (request.method !== 'OPTIONS') return undefined;
    response
      .writeHead(204, { 'access-control-allow-headers': 'authorization, content-type, content-encoding' })
      .end();
    return true;
  };
}

/** A proxy of the provider with CORS headers, for a page. */
async function proxyWithCors(target: string) {
  const server = createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await readText(request),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The page was closed.
    }
    return response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
