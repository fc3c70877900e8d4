import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const copyBytes = 1024 * 1024;

export interface CopiedFile {
  /** Relative to the data directory, with slashes. */
  readonly path: string;
  readonly bytes: number;
  /** Hash of the bytes that were copied, hexadecimal. */
  readonly sha256: string;
}

/** @param isSynced whether the copy must be on disk when this returns. */
export async function copyFile(
  from: string,
  to: string,
  isSynced: boolean,
): Promise<Omit<CopiedFile, 'path'>> {
  await using source = await open(from, 'r');
  await using target = await open(to, 'wx', 0o600);
  const hash = createHash('sha256');
  // A large buffer for each of a thousand small files makes V8 collect garbage over and over.
  const { size } = await source.stat();
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, copyBytes));
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await target.writeFile(chunk);
    bytes += bytesRead;
  }
  if (isSynced) await target.sync();
  return { bytes, sha256: hash.digest('hex') };
}

/** Makes renames and new files in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
