import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openChromium } from '../../../harness/tools/chromium.ts';
import type { ShellResult } from '../../../harness/tools/shell.ts';
import type { BuiltClient } from './client-build.ts';

/**
 * Starts the page's server with the command of its README, and clicks the button in Chromium.
 *
 * @returns the final lines of the page: on stdout when the events were accepted, otherwise on stderr.
 */
export async function runPage(
  { directory, command }: BuiltClient,
  env: Record<string, string | undefined>,
): Promise<ShellResult> {
  await using stack = new AsyncDisposableStack();
  const server = spawn('sh', ['-c', `exec ${command}`], {
    cwd: directory,
    env: { ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = new Promise((resolve) => server.once('exit', resolve));
  stack.defer(async () => {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
    await exited;
  });
  const errors = text(server.stderr);
  const url = await readUrl(server.stdout);
  if (url === undefined) throw new Error(`the page is not served: ${await errors}`);

  const browser = await openChromium();
  stack.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByRole('button').click();
  const last = page.locator('li', { hasText: /Queued|Do not retry|Giving up/ });
  await last.waitFor({ timeout: 60_000 });
  const lines = await page.locator('li').allTextContents();
  const queued = (await last.textContent())?.startsWith('Queued') === true;
  return {
    exitCode: queued ? 0 : 1,
    stdout: queued ? (lines.pop() ?? '') : '',
    stderr: lines.join('\n'),
  };
}

/** The URL that the server prints when it is ready; undefined when it exits first. */
function readUrl(output: Readable): Promise<string | undefined> {
  return new Promise((resolve) => {
    let printed = '';
    output.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const [url] = /http:\S+/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    output.on('end', () => resolve(undefined));
  });
}
