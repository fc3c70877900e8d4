import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMountObstacle, mountOn } from './mounts.ts';

/** A disk that is small enough to be filled. */
export interface SmallDisk extends AsyncDisposable {
  readonly directory: string;
  /** Leaves so many bytes to whoever writes next. */
  fill(freeBytes: number): Promise<void>;
  /** Takes away what `fill` wrote. */
  clear(): Promise<void>;
}

/** Mounts a tmpfs of so many mebibytes. */
export async function openSmallDisk(mebibytes: number): Promise<SmallDisk> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'weir-chaos-disk-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  stack.use(await mountOn(directory, ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'tmpfs']));
  await chmod(directory, 0o755);
  const ballast = join(directory, 'ballast');
  const owned = stack.move();
  return {
    directory,
    async fill(freeBytes) {
      const { bavail, bsize } = await statfs(directory);
      await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)));
    },
    clear: () => rm(ballast, { force: true }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Why this machine cannot have such a disk; undefined when it can. */
export function findSmallDiskObstacle(): Promise<string | undefined> {
  return findMountObstacle('a tmpfs', async () => {
    await using _ = await openSmallDisk(1);
  });
}
