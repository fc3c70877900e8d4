import { type ChildProcess, spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../../cli/program.ts';
import { inheritedEnvironment } from '../run/inherited-environment.ts';

const main = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

/** A data directory in which nothing was started. */
const noSystem = { WEIR_DATA_DIR: '/nonexistent/weir' };

export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs `weir …` in this process: a separate process costs 0.7 s of CPU time. Nothing is running in its data
 * directory unless `variables` name another one.
 *
 * @param options `stdin`: the input of the command.
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
 * Runs `weir …` as a separate process, for tests of its exit code, its streams and its environment.
 *
 * @param options `stdin`: the input of the command. Without `readStdout` its stdout is closed at once, as `|
 * head` does.
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
  // A command that does not read its stdin causes EPIPE here.
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

/** Starts `weir …` as a process that a test kills. */
export function startWeirCommand(args: string[]): ChildProcess {
  return spawn(execPath, [main, ...args], {
    stdio: 'ignore',
    env: { ...inheritedEnvironment(), ...noSystem },
  });
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
