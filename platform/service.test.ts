import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { preloadOption } from '../launcher/preload.mjs';
import { inheritedEnvironment } from '../test/support/run/inherited-environment.ts';

const directory = mkdtempSync(join(tmpdir(), 'weir-test-service-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A service process and its output, which is complete when `exited` resolves. */
function run(file: string, env: Record<string, string> = {}) {
  const child: ChildProcess = fork(file, {
    env: { ...inheritedEnvironment(), ...env },
    execArgv: [preloadOption()],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = { text: '' };
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams) stream.on('data', (chunk) => (output.text += chunk));
  // A process that was disconnected has no 'close'.
  const ends = streams.map((stream) => once(stream, 'end'));
  const exited = once(child, 'exit').then((exit) => Promise.all(ends).then(() => exit));
  const untilWritten = async (text: string) => {
    while (!output.text.includes(text)) await once(child.stdout ?? child, 'data');
  };
  return { child, output, exited, untilWritten };
}

/** A service whose `start` acquires a resource and then runs this code. */
function writeService(name: string, rest: string, service = 'test'): string {
  const file = join(directory, `${name}.ts`);
  const source = fileURLToPath(new URL('service.ts', import.meta.url));
  writeFileSync(
    file,
    `import { runService } from ${JSON.stringify(source)};
    await runService(process, { name: '${service}', schema: '' }, async ({ log, resources }) => {
      resources.defer(() => log.info('resource released'));
      log.info('starting');
      ${rest}
      return { probes: { findUnready: async () => [] } };
    });`,
  );
  return file;
}

// Longer than the time-out of a test.
const waitLong = 'await new Promise((resolve) => setTimeout(resolve, 600_000));';

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops a service that waits in its start, and its resources are released',
  async (signal) => {
    const { child, output, exited, untilWritten } = run(writeService(`waiting-${signal}`, waitLong));
    await untilWritten('starting');
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(output.text).toContain('resource released');
    expect(output.text).not.toContain('"ready"');
  },
);

test('it stops when the supervisor dies while it starts', async () => {
  const { child, exited, untilWritten } = run(writeService('orphan', waitLong));
  await untilWritten('starting');
  child.disconnect();
  expect(await exited).toEqual([0, null]);
});

const rejecting = `Promise.reject(new Error('not expected', { cause: new Error('the disk is full') }));`;

test('a rejection that no code handles is logged with its cause, and the service continues', async () => {
  const { child, output, exited, untilWritten } = run(writeService('rejecting', rejecting + waitLong));
  await untilWritten('not expected');
  expect(output.text).toContain('the disk is full');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(output.text).toContain('resource released');
});

test('the writer ends with it, and any service with an exception, for a restart', async () => {
  const writer = run(writeService('writer', rejecting + waitLong, 'writer'), {
    DATABASE_URL: 'postgres://127.0.0.1:1/weir',
    NATS_URL: 'nats://127.0.0.1:1',
  });
  const throwing = `setTimeout(() => { throw new Error('not expected', { cause: new Error('the disk is full') }); });`;
  const other = run(writeService('throwing', throwing + waitLong));
  for (const { exited, output } of [writer, other]) {
    expect(await exited).toEqual([1, null]);
    expect(output.text).toContain('the disk is full');
  }
});

test('a release that hangs does not delay the exit', async () => {
  const hanging = `resources.defer(() => new Promise(() => setInterval(() => {}, 1_000)));`;
  const { child, exited, untilWritten } = run(writeService('hanging', hanging + waitLong));
  await untilWritten('starting');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('a start that fails ends the process with its message, after the resources are released', async () => {
  const { output, exited } = run(writeService('failing', "throw new Error('no disk');"));
  expect(await exited).toEqual([1, null]);
  expect(output.text).toContain('test: no disk');
  expect(output.text).toContain('resource released');
});

test.each(['ingest', 'writer'])('SIGTERM stops %s while it waits for nats-server', async (name) => {
  // Accepts connections but sends nothing, like a nats-server that hangs.
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const main = fileURLToPath(new URL(`../services/${name}/main.ts`, import.meta.url));
  const { child, output, exited } = run(main, {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    NATS_URL: `nats://127.0.0.1:${port}`,
    API_KEY_PEPPER: 'pepper-of-the-tests-only',
    INGEST_PORT: '0',
  });
  await Promise.race([once(silent, 'connection'), exited.then(() => expect.fail(output.text))]);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(output.text).toContain('stopped while starting');
  silent.close();
});
