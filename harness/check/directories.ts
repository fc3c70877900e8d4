import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that differ between two directories, or are only in one of them. Paths are relative to the directories. */
export function findDifferences(left: string, right: string): string[] {
  const files = new Set([...listFiles(left), ...listFiles(right)]);
  return [...files].filter((file) => {
    const [a, b] = [join(left, file), join(right, file)];
    return !existsSync(a) || !existsSync(b) || !readFileSync(a).equals(readFileSync(b));
  });
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
