import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountOn } from '../../harness/chaos/disk/mounts.ts';
import { checkTmpfs } from '../../harness/chaos/disk/small-disk.ts';
import { codeOf } from '../../platform/thrown.ts';
import { until } from '../../test/support/wait.ts';
import { openDataDirectory } from '../data-directory/data-directory.ts';
import { readJson, writePrivateJson } from '../data-directory/json-file.ts';
import { SupervisorState } from '../instance/supervisor-state.ts';
import { identifyProcess } from '../process/process-identity.ts';
import type { RestoreJournal } from '../restore/restore-journal.ts';
import { watchRestores } from './restores.ts';

test('a restore that fills the disk fails, leaves no copy, and is recorded once there is room', async (context) => {
  const reason = await checkTmpfs();
  context.skip(reason !== undefined, reason);
  const directory = mkdtempSync(join(tmpdir(), 'weir-restore-'));
  const [disk, backups] = [join(directory, 'disk'), join(directory, 'backups')];
  mkdirSync(disk);
  try {
    // Enough bytes, and fewer files than the backup has.
    await using _disk = await mountOn(disk, ['-t', 'tmpfs', '-o', 'size=4g,nr_inodes=200,mode=755', 'tmpfs']);
    makeBackup(backups, 300);
    const data = openDataDirectory(join(disk, 'data'));
    mkdirSync(data.postgres);
    const record = { ...identifyProcess(process.pid), isStopping: false, children: [], ports: {} };
    const requested: RestoreJournal = {
      id: '1',
      to: null,
      directory: backups,
      label: 'b',
      step: 'requested',
    };
    const journal = () => readJson<RestoreJournal>(data.file('restore.json'));
    writePrivateJson(data.file('restore.json'), requested);
    const lines: string[] = [];
    const note = (line: string) => {
      lines.push(line);
      // Another program takes the room that the copy leaves.
      if (line.startsWith('the restore failed')) fill(disk);
    };
    await using _restores = watchRestores(
      {
        data,
        progress: { note, step: (_, run) => run(() => {}) },
        state: new SupervisorState(data.file('supervisor.json'), record),
        loops: new Map(),
        signal: new AbortController().signal,
      },
      [],
      'nats://127.0.0.1:1',
    );
    await until(() => lines.some((line) => line.startsWith('the end of the restore is not recorded yet')));
    expect(journal()?.step).toBe('requested');
    rmSync(join(disk, 'full'), { recursive: true });
    await until(() => journal()?.step === 'failed');
    expect(journal()?.failure).toMatch(/no space left/);
    expect(readdirSync(data.path).filter((name) => name.startsWith('postgres'))).toEqual(['postgres']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** A backup of empty files. */
function makeBackup(directory: string, count: number): void {
  const base = join(directory, 'base', 'b');
  mkdirSync(base, { recursive: true });
  const files = Array.from({ length: count }, (_, index) => ({
    path: `file-${index}`,
    bytes: 0,
    sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  }));
  for (const { path } of files) writeFileSync(join(base, path), '');
  writePrivateJson(join(base, 'files.json'), { directories: [], files });
  const stoppedAt = '2026-01-01T00:00:00.000Z';
  writePrivateJson(join(base, 'backup.json'), { label: 'b', stoppedAt, bytes: 0 });
}

/** Makes files until the disk takes no more. */
function fill(disk: string): void {
  mkdirSync(join(disk, 'full'));
  try {
    for (let number = 0; number < 10_000; number++) writeFileSync(join(disk, 'full', `${number}`), '');
  } catch (error) {
    if (codeOf(error) !== 'ENOSPC') throw error;
  }
}
