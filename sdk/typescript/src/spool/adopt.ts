import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findOrphans } from './owner.ts';
import { adoptSegment, type Segment } from './segment.ts';

/**
 * Takes over the segments of directories whose owner has ended, oldest directory and segment first. A segment is taken by
 * renaming it, which succeeds in only one process.
 *
 * @param nextPath a free path for a segment, with this suffix, in the directory of the adopter.
 */
export function adoptAll(root: string, nextPath: (suffix: string) => string): Segment[] {
  return findOrphans(root).flatMap((directory) => adoptDirectory(directory, nextPath));
}

function adoptDirectory(directory: string, nextPath: (suffix: string) => string): Segment[] {
  try {
    const segments = namesOf(directory).flatMap((name) => {
      // The name is a sequence number, followed by the number of events, if known, and the format.
      const target = nextPath(basename(name).slice(name.indexOf('.')));
      return adoptSegment(join(directory, name), target) ?? [];
    });
    rmSync(directory, { recursive: true, force: true });
    return segments;
  } catch {
    // Another process adopts it, or has adopted it.
    return [];
  }
}

/** Leaves out a plain segment whose compressed form exists: the process ended before it deleted the plain one. */
function namesOf(directory: string): string[] {
  const names = readdirSync(directory);
  return names.filter((name) => /\.ndjson(\.gz)?$/.test(name) && !names.includes(`${name}.gz`)).sort();
}
