import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../launcher/process/run-program.ts';
import { checkMount, mountOn, run } from './mounts.ts';

/** A file system in an image file, for simulated power cuts. */
export interface LoopDisk extends AsyncDisposable {
  /** The mount point; it stays the same across power cuts. */
  readonly directory: string;
  /** Flushes everything written so far to the disk. */
  sync(): Promise<void>;
  /**
   * Saves what the disk would contain if the power failed now: what was fsynced, and whatever else the kernel
   * has written already. Processes that write to the disk must be paused.
   */
  snapshot(): Promise<void>;
  /** Replaces the disk's content with the snapshot. No file on it may be open. */
  revert(): Promise<void>;
}

const diskBytes = 512 * 1024 ** 2;

/**
 * Creates an ext4 file system on a loop device. Data that is written and not fsynced is in the page cache of
 * this file system and not in the image file, so a copy of the image file is what a power cut leaves.
 */
export async function openLoopDisk(bytes = diskBytes): Promise<LoopDisk> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'weir-chaos-disk-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // Run as root, Postgres has another user, who must be able to pass the directory.
  await chmod(home, 0o755);
  const directory = join(home, 'mounted');
  await mkdir(directory);
  const image = (generation: number) => join(home, `disk-${generation}.img`);
  let generation = 0;
  await makeFileSystem(image(0), bytes);
  let mounted = await mountImage(image(0), directory);
  stack.defer(() => mounted[Symbol.asyncDispose]());
  const owned = stack.move();
  return {
    directory,
    sync: () => run('sync', ['--file-system', directory]),
    snapshot: () => copyFile(image(generation), image(generation + 1), constants.COPYFILE_FICLONE),
    async revert() {
      await mounted[Symbol.asyncDispose]();
      await rm(image(generation));
      generation += 1;
      mounted = await mountImage(image(generation), directory);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Why this machine does not support such a disk; undefined when it does. */
export function checkLoopDevices(): Promise<string | undefined> {
  return checkMount('loop devices', async () => {
    await using _ = await openLoopDisk(8 * 1024 ** 2);
  });
}

async function makeFileSystem(image: string, bytes: number): Promise<void> {
  const file = await open(image, 'w');
  await file.truncate(bytes);
  await file.close();
  // Lazy initialisation would write to the disk during the test.
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image]);
}

async function mountImage(image: string, directory: string): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const device = (await runProgram('losetup', ['--find', '--show', image], { timeoutMs: 10_000 })).trim();
  stack.defer(() => run('losetup', ['--detach', device]));
  // With the default commit interval of 5 s, data that was not fsynced would survive a power cut.
  stack.use(await mountOn(directory, ['-t', 'ext4', '-o', 'noatime,commit=600', device]));
  return stack.move();
}
