import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import type { Fault } from '../fault.ts';

const run = promisify(execFile);
const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const library = `usr/lib/${triplet}/faketime/libfaketime.so.1`;

/** libfaketime reads the clock's offset from this file at every call. */
const offsetFile = join(tmpdir(), `weir-chaos-clock-${process.pid}`);

const downloadTimeoutMs = 30_000;

/** The clock of the services jumps by more than a month in both directions. Timers must not be affected. */
export const clockJump: Fault = {
  name: 'clock-jump',
  row: 13,
  title: 'clock of ingest and writer 40 days ahead, then 40 days behind',
  get system() {
    return {
      env: {
        LD_PRELOAD: findLibrary() ?? '',
        FAKETIME_TIMESTAMP_FILE: offsetFile,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    };
  },
  unavailableMsMax: 1_000,
  async checkSupport() {
    if (findLibrary() === undefined) await downloadLibrary().catch(() => {});
    return findLibrary() === undefined
      ? 'libfaketime is not installed and cannot be downloaded by apt-get'
      : undefined;
  },
  async inject({ random, journal, thorough }) {
    try {
      for (const offset of ['+40d', '-40d']) {
        writeFileSync(offsetFile, `${offset}\n`);
        await sleep(random.between(500, thorough ? 20_000 : 1_500));
        await journal.untilAccepted(10);
      }
    } finally {
      rmSync(offsetFile, { force: true });
    }
  },
  async verify({ system }) {
    const [row] = await system.sql<{ months: number }[]>`
      SELECT count(DISTINCT month)::int AS months FROM usage_months`;
    return row?.months === 3 ? [] : [`events were counted in ${row?.months} months instead of three`];
  },
};

function findLibrary(): string | undefined {
  return [join('/', library), join(downloadDirectory(), library)].find((path) => existsSync(path));
}

/** Downloads it into the cache; nothing is installed on the system. */
async function downloadLibrary(): Promise<void> {
  const cwd = downloadDirectory();
  mkdirSync(cwd, { recursive: true });
  const options = { cwd, timeout: downloadTimeoutMs };
  await run('apt-get', ['download', 'libfaketime'], options);
  await run('sh', ['-c', 'dpkg-deb --extract libfaketime_*.deb .'], options);
}

function downloadDirectory(): string {
  return join(cacheDirectory(process.env, tmpdir()), 'libfaketime');
}
