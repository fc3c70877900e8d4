import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

export interface Host {
  env: Readonly<Record<string, string | undefined>>;
  /** The working directory, to which file names are relative. */
  directory: string;
  stdin: Readable & { isTTY?: boolean };
  /** For programs: JSON. */
  stdout: Writable & { isTTY?: boolean; columns?: number };
  /** For people: progress, summaries, errors. */
  stderr: Writable & { isTTY?: boolean };
}

/** The message is one sentence for the operator. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** Stdout was closed, for example by `| head`: the command stops without a failure. */
export class OutputClosedError extends Error {
  override name = 'OutputClosedError';
}

export function printJson(host: Host, value: unknown): Promise<void> {
  return printLine(host, JSON.stringify(value));
}

/**
 * @returns when the line is written, so that output does not accumulate in memory.
 * @throws OutputClosedError when the reader has closed stdout.
 */
export function printLine(host: Host, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    host.stdout.write(`${line}\n`, (error) => {
      if (error) reject(new OutputClosedError('stdout is closed', { cause: error }));
      else resolve();
    });
  });
}

export function printMessage(host: Host, text: string): void {
  host.stderr.write(`${text}\n`);
}

/** Relative to INIT_CWD, where npm was called: npm runs scripts in the project's directory. */
export function findFile(host: Host, file: string): string {
  const here = resolve(host.directory, file);
  const there = resolve(host.env.INIT_CWD ?? host.directory, file);
  return existsSync(here) ? here : there;
}
