import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../../cli/program.ts';
import { inheritedEnvironment } from '../run/compile-cache.ts';

const main = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

/** Nothing was started in this data directory. */
const noSystem = { WEIR_DATA_DIR: '/nonexistent/weir' };

export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs `weir …` in this process: a process of its own costs 0.7 s of CPU time. Nothing is started in its data directory
 * unless `variables` say otherwise.
 *
 * @param options `stdin` is what it reads.
 */
export async function runWeir(
  args: string[],
  variables: Record<string, string> = {},
  { stdin = '' } = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const exitCode = await runCommandLine(args, {
    env: { ...noSystem, ...variables },
    directory: process.cwd(),
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/**
 * Runs `weir …` as a process of its own, for what only a process shows: its exit, its streams, and what it reads of its
 * environment.
 *
 * @param options `stdin` is what it reads. Without `readStdout` its output is closed at once, as `| head` does.
 */
export async function runWeirProcess(
  args: string[],
  variables: Record<string, string> = {},
  { readStdout = true, stdin = '' } = {},
): Promise<CommandResult> {
  const child = spawn(execPath, [main, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...inheritedEnvironment(), ...noSystem, ...variables },
  });
  // A command that does not read its stdin closes it.
  child.stdin.on('error', () => {}).end(stdin);
  if (!readStdout) child.stdout.destroy();
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([
    readStdout ? text(child.stdout) : '',
    text(child.stderr),
    exited,
  ]);
  return { exitCode, stdout, stderr };
}

class TextSink extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
