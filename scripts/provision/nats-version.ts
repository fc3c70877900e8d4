import { runProgram } from './run-program.ts';

/** The version we get when we have to get one. */
export const natsVersion = '2.15.1';

/** The oldest that is used when it is there: it has `sync_interval: always` and message ids in work queues. */
export const natsVersionMin = '2.11.0';

/**
 * Runs a program to see whether it is a nats-server that we can use. A download counts only after it has run here: it
 * may be for another processor or another libc.
 *
 * @returns its version.
 * @throws Error that says why it cannot be used.
 */
export async function readNatsVersion(binary: string): Promise<string> {
  const said = await runProgram(binary, ['--version'], { timeoutMs: 10_000 });
  const version = /v(\d+\.\d+\.\d+)/.exec(said)?.[1];
  if (version === undefined) throw new Error(`${binary} does not tell its version, but: ${said.trim()}`);
  if (compareVersions(version, natsVersionMin) < 0) {
    throw new Error(`${binary} is ${version}, and Weir needs ${natsVersionMin} or newer`);
  }
  return version;
}

/** Negative, zero or positive, as for Array.sort. */
export function compareVersions(a: string, b: string): number {
  const [as, bs] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let i = 0; i < 3; i++) {
    const difference = (as[i] ?? 0) - (bs[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
