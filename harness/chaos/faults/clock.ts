import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import { dayMs } from '../../../platform/time.ts';
import { monthOf } from '../../../store/accounts/month.ts';
import { changeSpace } from '../../../store/accounts/spaces.ts';
import { expireLock } from '../../../store/retention/expire.ts';
import { until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';

const run = promisify(execFile);
const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const library = `usr/lib/${triplet}/faketime/libfaketime.so.1`;

/** libfaketime reads the clock's offset from this file at every call. */
const offsetFile = join(tmpdir(), `weir-chaos-clock-${process.pid}`);

/** A copy of the library that the user of Postgres can read, unlike root's cache. */
const preloaded = join(tmpdir(), `weir-chaos-faketime-${process.pid}.so`);

const downloadTimeoutMs = 30_000;
const refusalTimeoutMs = 30_000;
const passTimeoutMs = 60_000;

const fakedClock = {
  LD_PRELOAD: preloaded,
  FAKETIME_TIMESTAMP_FILE: offsetFile,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
};

/** Shorter than every jump, so that a wrong time of receipt or a wrong cutoff would delete events. */
const retentionDays = 7;

/** The clock of the services jumps by more than a month in both directions, and that of Postgres does not. */
export const clockJump: Fault = {
  name: 'clock-jump',
  row: 13,
  title: 'clock of ingest and writer 40 days ahead, then 40 days behind',
  system: { env: fakedClock },
  checkSupport,
  async inject(run) {
    for (const offset of ['+40d', '-40d']) await holdClock(run, offset, () => untilRefused(run));
  },
  verify: findWrongMonths,
};

/** An ingest whose machine was suspended for longer than the spaces keep their events. */
export const clockIngestBehind: Fault = {
  name: 'clock-ingest-behind',
  row: 13,
  title: 'clock of ingest 8 days behind, longer than the retention of the spaces',
  system: { ingestEnv: fakedClock },
  checkSupport,
  async inject(run) {
    await setRetention(run);
    await holdClock(run, '-8d', () => untilRefused(run));
    await run.journal.untilAccepted(10);
    await runRetention(run);
  },
  verify: findWrongMonths,
};

/** The clock of the whole machine jumps, so that comparing clocks cannot detect it. */
export const clockAhead: Fault = {
  name: 'clock-ahead',
  row: 13,
  title: 'clock of Postgres, ingest and writer 40 days ahead: nothing may expire',
  system: { env: fakedClock, postgresEnv: fakedClock },
  checkSupport,
  async inject(run) {
    await setRetention(run);
    await runRetention(run);
    await holdClock(run, '+40d', async () => {
      await run.journal.untilAccepted(10);
      await runRetention(run);
    });
  },
};

async function holdClock(
  { random, thorough }: FaultRun,
  offset: string,
  whileWrong: () => Promise<void>,
): Promise<void> {
  try {
    writeFileSync(offsetFile, `${offset}\n`);
    await whileWrong();
    await sleep(random.between(500, thorough ? 20_000 : 1_500));
  } finally {
    rmSync(offsetFile, { force: true });
  }
}

/** Waits until every ingest reports that its clock is wrong. */
async function untilRefused({ system }: FaultRun): Promise<void> {
  const isRefusing = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return response.status === 503 && (await response.text()).includes('clock');
  };
  await until(
    async () => (await Promise.all(system.ingestUrls.map(isRefusing))).every(Boolean),
    refusalTimeoutMs,
    'ingest did not notice that its clock is wrong',
  );
}

async function setRetention({ system, load }: FaultRun): Promise<void> {
  for (const { spaceId } of load.tenants) await changeSpace(system.database, spaceId, { retentionDays });
}

/** Restarts the writer, which starts with a pass of retention, and waits for that pass. */
async function runRetention({ system }: FaultRun): Promise<void> {
  const readPass = async () => {
    const [row] = await system.sql<{ passedAt: Date }[]>`SELECT passed_at AS "passedAt" FROM retention_clock`;
    return row?.passedAt.getTime() ?? 0;
  };
  const before = await readPass();
  const writer = system.process('writer-1');
  await writer.stop();
  await until(async () => (await readPass()) !== before, passTimeoutMs, 'retention made no pass');
  // The pass holds this lock to its end.
  await system.sql.begin((sql) => sql`SELECT pg_advisory_xact_lock(${expireLock})`);
}

/** Finds events that were counted in a month other than the current or the previous one. */
async function findWrongMonths({ system }: FaultRun): Promise<string[]> {
  const rows = await system.sql<{ month: string }[]>`SELECT DISTINCT month FROM usage_months`;
  const known = new Set([monthOf(Date.now()), monthOf(Date.now() - dayMs)]);
  const wrong = rows.filter(({ month }) => !known.has(month));
  return wrong.map(({ month }) => `events were counted in ${month}`);
}

async function checkSupport(): Promise<string | undefined> {
  if (findLibrary() === undefined) await downloadLibrary().catch(() => {});
  const found = findLibrary();
  if (found === undefined) return 'libfaketime is not installed and cannot be downloaded by apt-get';
  copyFileSync(found, preloaded);
  process.once('exit', () => rmSync(preloaded, { force: true }));
  return undefined;
}

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
