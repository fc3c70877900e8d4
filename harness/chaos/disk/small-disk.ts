import { chmod, mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkMount, mountOn } from './mounts.ts';

/** A disk that is small enough to fill up. */
export interface SmallDisk extends AsyncDisposable {
  readonly directory: string;
  /** Fills the disk until only this many bytes are free. */
  fill(freeBytes: number): Promise<void>;
  /** Deletes what `fill` wrote. */
  clear(): Promise<void>;
}

/** Other processes write at the same time: the free space is measured again after each chunk. */
const chunkBytes = 8 * 1024 * 1024;

/** Mounts a tmpfs of this size. */
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
      await using file = await open(ballast, 'a');
      for (;;) {
        const { bavail, bsize } = await statfs(directory);
        const bytes = Math.min(chunkBytes, bavail * bsize - freeBytes);
        if (bytes <= 0) return;
        await file.write(Buffer.alloc(bytes));
      }
    },
    clear: () => rm(ballast, { force: true }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Why this machine does not support such a disk; undefined when it does. */
export function checkTmpfs(): Promise<string | undefined> {
  return checkMount('a tmpfs', async () => {
    await using _ = await openSmallDisk(1);
  });
}
