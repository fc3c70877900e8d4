import type { Writable } from 'node:stream';

/** What the command line takes from the process that it runs in. */
export interface Host {
  env: Readonly<Record<string, string | undefined>>;
  /** The working directory, which the names of files start from. */
  directory: string;
  /** For programs: JSON. */
  stdout: Writable;
  /** For people: progress, summaries, errors. */
  stderr: Writable & { isTTY?: boolean };
}

/** A command that could not do what was asked. The message is one sentence for the person who asked. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** Whoever read our output left (`… | head`): no failure, but there is nothing more to do. */
export class ReaderLeft extends Error {
  override name = 'ReaderLeft';
}

/** Prints a value as one line of JSON. */
export function printJson(host: Host, value: unknown): Promise<void> {
  return printLine(host, JSON.stringify(value));
}

/**
 * Prints a line for programs.
 *
 * @returns when it is written, so that memory does not fill up with output.
 * @throws ReaderLeft when nobody reads any more.
 */
export function printLine(host: Host, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    host.stdout.write(`${line}\n`, (error) => {
      if (error) reject(new ReaderLeft('nobody reads the output', { cause: error }));
      else resolve();
    });
  });
}

/** Tells people something. */
export function tell(host: Host, text: string): void {
  host.stderr.write(`${text}\n`);
}
