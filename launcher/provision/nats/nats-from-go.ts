import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { runProgram } from '../../process/run-program.ts';
import { natsSourceSum, natsVersion } from './nats-version.ts';

/** Compiling takes one or two minutes on a small machine. */
const buildTimeoutMs = 600_000;

const source = `github.com/nats-io/nats-server/v2@v${natsVersion}`;

/**
 * Builds nats-server with the installed Go.
 * @throws Error when the source's checksum is not the pinned one, whatever proxy or checksum database Go
 * uses.
 */
export async function getFromGo(scratch: string, signal?: AbortSignal): Promise<string> {
  const directory = join(scratch, 'bin');
  mkdirSync(directory);
  const options = {
    timeoutMs: buildTimeoutMs,
    cwd: scratch,
    signal,
    env: { ...env, GOBIN: directory, CGO_ENABLED: '0', GOFLAGS: '-modcacherw' },
  };
  requirePinned(await runProgram('go', ['mod', 'download', '-json', source], options));
  await runProgram('go', ['install', source], options);
  return join(directory, 'nats-server');
}

/** @param downloaded the output of `go mod download -json`. */
export function requirePinned(downloaded: string): void {
  const { Sum: sum }: { Sum?: string } = JSON.parse(downloaded);
  if (sum !== natsSourceSum)
    throw new Error(`the source of nats-server ${natsVersion} has the checksum ${sum}, not ${natsSourceSum}`);
}
