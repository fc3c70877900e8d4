import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../provision/run-program.ts';
import { findMountObstacle, mountOn, run } from './mounts.ts';

/** A file system of its own in a file, whose power can be cut. */
export interface LoopDisk extends AsyncDisposable {
  /** Where it is mounted; it stays the same across cuts. */
  readonly directory: string;
  /** Everything that was written is on the disk from now on, fsynced or not. */
  sync(): Promise<void>;
  /**
   * What the disk would hold if the power failed now: what was fsynced, and of the rest what the kernel happens to have
   * written. Who writes to it must be paused.
   */
  snapshot(): Promise<void>;
  /** Puts the snapshot in the place of the disk. Nobody may have a file of it open any more. */
  revert(): Promise<void>;
}

const diskBytes = 512 * 1024 ** 2;

/**
 * Makes an ext4 file system on a loop device. What is written and not fsynced lies in the page cache of this inner file
 * system and not in the file behind it, so a copy of the file is what a power cut leaves.
 */
export async function openLoopDisk(bytes = diskBytes): Promise<LoopDisk> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'weir-chaos-disk-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // The Postgres of a harness that runs as root is somebody else.
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

/** Why this machine cannot have such a disk; undefined when it can. */
export function findLoopObstacle(): Promise<string | undefined> {
  return findMountObstacle('loop devices', async () => {
    await using _ = await openLoopDisk(8 * 1024 ** 2);
  });
}

async function makeFileSystem(image: string, bytes: number): Promise<void> {
  const file = await open(image, 'w');
  await file.truncate(bytes);
  await file.close();
  // Nothing is left to be initialised later: such writes would blur what a cut leaves.
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image]);
}

async function mountImage(image: string, directory: string): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const device = (await runProgram('losetup', ['--find', '--show', image], { timeoutMs: 10_000 })).trim();
  stack.defer(() => run('losetup', ['--detach', device]));
  // The journal is committed by an fsync, and not every five seconds: only what was fsynced survives a cut.
  stack.use(await mountOn(directory, ['-t', 'ext4', '-o', 'noatime,commit=600', device]));
  return stack.move();
}
