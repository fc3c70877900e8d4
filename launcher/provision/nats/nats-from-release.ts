import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../process/run-program.ts';
import { natsVersion } from './nats-version.ts';

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64', arm: 'arm7', ia32: '386' };

/** Short, so that a machine without access to GitHub continues with the next source soon. */
const connectTimeoutMs = 10_000;
const downloadTimeoutMs = 180_000;

/** Downloads the official release archive, and verifies it against the published checksums. */
export async function getFromRelease(scratch: string, signal?: AbortSignal): Promise<string> {
  const name = `nats-server-v${natsVersion}-${platform()}-${architectures[arch()] ?? arch()}`;
  const release = `https://github.com/nats-io/nats-server/releases/download/v${natsVersion}`;
  const sums = (await download(`${release}/SHA256SUMS`, signal)).toString('utf8');
  const archive = await download(`${release}/${name}.tar.gz`, signal);
  const expected = sums
    .split('\n')
    .find((line) => line.endsWith(`${name}.tar.gz`))
    ?.slice(0, 64);
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== expected) throw new Error(`the checksum of ${name}.tar.gz does not match the published one`);
  const file = join(scratch, 'nats-server.tar.gz');
  writeFileSync(file, archive);
  await runProgram('tar', ['-xzf', file, '-C', scratch], { timeoutMs: 60_000, signal });
  return join(scratch, name, 'nats-server');
}

async function download(url: string, signal?: AbortSignal): Promise<Buffer> {
  const abort = new AbortController();
  const connecting = setTimeout(
    () => abort.abort(new Error(`no response from ${url} within ${connectTimeoutMs / 1_000} s`)),
    connectTimeoutMs,
  );
  const response = await fetch(url, {
    signal: AbortSignal.any([
      abort.signal,
      AbortSignal.timeout(downloadTimeoutMs),
      ...(signal ? [signal] : []),
    ]),
  }).finally(() => clearTimeout(connecting));
  if (!response.ok) throw new Error(`${url} responded with status ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
