import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../platform/thrown.ts';
import { type CopiedFile, copyFile, syncDirectory } from './copied-file.ts';

/** Files that are copied at the same time. They share fsyncs, and do not keep the disk from Postgres. */
const concurrentCopies = 4;

export interface FileTree {
  /** Relative paths; a directory comes before those in it. */
  readonly directories: readonly string[];
  readonly files: readonly CopiedFile[];
}

export type OnCopied = (bytes: number) => void;

/** Lists a tree. Postgres may delete files meanwhile. */
export async function listTree(
  root: string,
  isLeftOut: (path: string, isDirectory: boolean) => boolean,
): Promise<{ directories: string[]; files: string[]; bytes: number }> {
  const found = { directories: [] as string[], files: [] as string[], bytes: 0 };
  const visit = async (directory: string) => {
    for (const entry of await ifExists(readdir(join(root, directory), { withFileTypes: true }), [])) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (isLeftOut(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        found.directories.push(path);
        await visit(path);
      } else if (entry.isFile()) {
        found.files.push(path);
        found.bytes += (await ifExists(stat(join(root, path)), { size: 0 })).size;
      } else {
        throw new Error(
          `${join(root, path)} is not a plain file: files outside of the data directory are not backed up`,
        );
      }
    }
  };
  await visit('');
  return found;
}

/**
 * Copies a running Postgres' tree to a new directory, without files deleted meanwhile: WAL deletes them
 * again.
 */
export async function copyTree(
  { directories, files }: { directories: readonly string[]; files: readonly string[] },
  { from, to, onCopied }: { from: string; to: string; onCopied: OnCopied },
): Promise<FileTree> {
  await makeDirectories(to, directories);
  const copied: CopiedFile[] = [];
  await forEach(files, async (path) => {
    const file = await ifExists(copyFile(join(from, path), join(to, path), true), undefined);
    if (file === undefined) return;
    copied.push({ path, ...file });
    onCopied(file.bytes);
  });
  for (const directory of ['', ...directories]) await syncDirectory(join(to, directory));
  return { directories, files: copied };
}

interface RestoredTree {
  from: string;
  to: string;
  own: (path: string) => void;
  isSynced: boolean;
  onCopied: OnCopied;
}

/**
 * Copies a backup to a new data directory, and compares each file with its checksum.
 * @param own makes the user of Postgres the owner.
 * @throws Error that names a file that is missing or damaged.
 */
export async function restoreTree(
  { directories, files }: FileTree,
  { from, to, own, isSynced, onCopied }: RestoredTree,
): Promise<void> {
  await makeDirectories(to, directories);
  own(to);
  for (const directory of directories) own(join(to, directory));
  await forEach(files, async ({ path, bytes, sha256 }) => {
    const copied = await copyFile(join(from, path), join(to, path), isSynced);
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new Error(`the backup is damaged: ${join(from, path)} is not what was written`);
    own(join(to, path));
    onCopied(bytes);
  });
  if (isSynced) for (const directory of ['', ...directories]) await syncDirectory(join(to, directory));
}

/** Runs some at a time: a small file takes the time of an fsync. */
async function forEach<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const iterator = items.values();
  const runNext = async () => {
    for (const item of iterator) await run(item);
  };
  await Promise.all(Array.from({ length: concurrentCopies }, runNext));
}

async function makeDirectories(to: string, directories: readonly string[]): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const directory of directories) await mkdir(join(to, directory), { mode: 0o700 });
}

async function ifExists<T, U>(result: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await result;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return otherwise;
    throw error;
  }
}
