import { runProgram } from '../../process/run-program.ts';

export const natsVersion = '2.15.1';

/** Go's checksum of its source, the `h1:` of go.sum. Its own go.sum has those of its dependencies. */
export const natsSourceSum = 'h1:fK3AeYFIji1Smng60jB0hVoAPZezA/UzsaI3BqXFNEI=';

/** The oldest supported version: it has `sync_interval: always`, and message ids in work-queue streams. */
export const natsVersionMin = '2.11.0';

/**
 * Runs a program to check that it is a usable nats-server: a download may be for another processor or libc.
 * @returns its version.
 * @throws Error with the reason why it cannot be used.
 */
export async function readNatsVersion(binary: string): Promise<string> {
  const output = await runProgram(binary, ['--version'], { timeoutMs: 10_000 });
  const version = /v(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (version === undefined) throw new Error(`${binary} printed no version, but: ${output.trim()}`);
  if (compareVersions(version, natsVersionMin) < 0) {
    throw new Error(`${binary} is ${version}, and Weir needs ${natsVersionMin} or newer`);
  }
  return version;
}

/** Compares `major.minor.patch`, for Array.sort. */
export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
