import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { passwordCharsMax, passwordCharsMin } from '../store/accounts/limits.ts';
import { CommandError, type Host } from './host.ts';

/**
 * Reads a password from the first line of stdin, on a terminal with a prompt and without echo. Never an
 * argument: other users of the machine can list the arguments of processes.
 * @throws CommandError when the password is too short or too long.
 */
export async function readPassword(host: Host): Promise<string> {
  const isTerminal = host.stdin.isTTY === true;
  if (isTerminal) host.stderr.write('Password: ');
  const password = await readLine(host, isTerminal);
  if (isTerminal) host.stderr.write('\n');
  if (password.length >= passwordCharsMin && password.length <= passwordCharsMax) return password;
  throw new CommandError(`A password must have ${passwordCharsMin} to ${passwordCharsMax} characters.`);
}

async function readLine({ stdin }: Host, isTerminal: boolean): Promise<string> {
  // readline disables the terminal's echo, and writes an echo to `output`.
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: discarded, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}
