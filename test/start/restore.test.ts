import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { createWeirDirectory, type WeirDirectory } from '../../harness/system/weir.ts';
import { readJson } from '../../launcher/data-directory/json-file.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import type { RestoreJournal } from '../../launcher/restore/restore-journal.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { postEvents } from '../support/http.ts';
import { inheritedEnvironment } from '../support/run/inherited-environment.ts';
import { until } from '../support/wait.ts';

const timeout = 400_000;
const cli = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

test('a lost Postgres is restored while ingest accepts, also when the start is killed meanwhile; nothing is lost', {
  timeout,
}, async () => {
  await using weir = createWeirDirectory();
  let launched = weir.launch();
  await launched.ready();
  const { apiKey, spaceId, ingestUrl } = weir.connection();
  const variables = { WEIR_DATA_DIR: weir.dataDir };
  const sent: string[] = [];
  const send = async () => {
    const event = toolEvent();
    const { status } = await postEvents({ url: ingestUrl }, { apiKey }, [event]);
    if (status === 202) sent.push(String(event.id));
    return status;
  };
  expect(await send()).toBe(202);
  // A backup that is killed during its copy is never offered, and the next one removes it.
  const killed = spawn(execPath, [cli, 'backup'], {
    env: { ...inheritedEnvironment(), ...variables },
    stdio: 'ignore',
  });
  const base = join(weir.dataDir, 'backups', 'base');
  const drafts = () =>
    existsSync(base) ? readdirSync(base).filter((name) => name.endsWith('.partial')) : [];
  await until(() => drafts().length > 0, 60_000);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(drafts()).toHaveLength(1);
  expect((await runWeir(['restore'], variables)).stderr).toContain('There is no verified backup');
  const backup = await runWeir(['backup'], variables);
  expect(backup.stderr).not.toContain('not verified');
  expect(backup.exitCode).toBe(0);
  expect(drafts()).toEqual([]);
  const { stoppedAt } = JSON.parse(backup.stdout).backup;
  const tooEarly = await runWeir(['restore', '--to', '2026-01-01T00:00:00Z'], variables);
  expect(tooEarly).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`restored to ${stoppedAt} or later`),
  });
  expect((await runWeir(['doctor', '--quiet'], variables)).stdout).not.toContain('"check":"backup"');
  expect(await send()).toBe(202);
  const key = await runWeir(['key', 'create', '--space', spaceId, '--name', 'new'], variables);
  await untilStored(weir, sent);

  const postgres = weir.pidOf('postgres');
  rmSync(join(weir.dataDir, 'postgres'), { recursive: true });
  // It may have noticed.
  if (readProcess(postgres)) process.kill(postgres, 'SIGKILL');
  // No empty database takes its place.
  await until(() => launched.output().includes('The data directory of Postgres'), 60_000);
  expect(await send()).toBe(202);
  const plan = await runWeir(['restore'], variables);
  expect(JSON.parse(plan.stdout)).toMatchObject({ isPlan: true, to: null, isRunning: true });
  const restore = runWeir(['restore', '--yes'], variables);
  const journal = () => readJson<RestoreJournal>(join(weir.dataDir, 'restore.json'));
  await until(() => journal()?.progress?.startsWith('recover') === true, 60_000);
  expect(await send()).toBe(202);
  const { exitCode, stdout, stderr } = await restore;
  expect(stderr).not.toContain('failed');
  expect(exitCode).toBe(0);
  const done: RestoreJournal = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(done).toMatchObject({ step: 'done', caughtUp: { lost: [] } });
  expect(await send()).toBe(202);
  await untilStored(weir, sent);
  expect((await postEvents({ url: ingestUrl }, JSON.parse(key.stdout), [toolEvent()])).status).toBe(202);

  // To a time since the backup. Killed in the middle, the next start goes on.
  const to = new Date();
  expect(await send()).toBe(202);
  await untilStored(weir, sent);
  const again = runWeir(['restore', '--to', to.toISOString(), '--yes'], variables);
  await until(() => journal()?.step === 'copied', 60_000);
  launched.kill('SIGKILL');
  await launched.exited;
  expect((await again).stderr).toContain('`weir start` goes on with the restore');
  launched = weir.launch();
  await launched.ready();
  expect(journal()).toMatchObject({ step: 'done', to: to.toISOString(), caughtUp: { lost: [] } });
  expect(Date.parse(journal()?.restoredTo ?? '')).toBeLessThanOrEqual(to.getTime());
  await untilStored(weir, sent);
  const aside = readdirSync(weir.dataDir).filter((name) => name.startsWith('postgres.before-'));
  expect(aside).toHaveLength(1);
  expect(existsSync(join(weir.dataDir, 'postgres.restored'))).toBe(false);
  launched.kill('SIGTERM');
  await launched.exited;
});

/** Waits until exactly these events are stored, once each. */
async function untilStored(weir: WeirDirectory, ids: readonly string[]): Promise<void> {
  const { databaseUrl, spaceId } = weir.connection();
  await using sql = openPostgres(databaseUrl, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await until(async () => {
    const rows = await sql<
      { id: string }[]
    >`SELECT id FROM events WHERE space_id = ${spaceId} AND id = ANY(${`{${ids.join()}}`}::uuid[])`;
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    return rows.length === ids.length;
  }, 60_000);
}
