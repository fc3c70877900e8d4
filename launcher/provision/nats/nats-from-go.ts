import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { runProgram } from '../../process/run-program.ts';
import { natsVersion } from './nats-version.ts';

/** Compiling takes one or two minutes on a small machine. */
const buildTimeoutMs = 600_000;

/** Builds nats-server with the installed Go, which verifies the source against its checksum database. */
export async function getFromGo(scratch: string, signal?: AbortSignal): Promise<string> {
  const directory = join(scratch, 'bin');
  mkdirSync(directory);
  await runProgram('go', ['install', `github.com/nats-io/nats-server/v2@v${natsVersion}`], {
    timeoutMs: buildTimeoutMs,
    cwd: scratch,
    signal,
    env: { ...env, GOBIN: directory, CGO_ENABLED: '0', GOFLAGS: '-modcacherw' },
  });
  return join(directory, 'nats-server');
}
