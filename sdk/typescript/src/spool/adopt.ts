import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findOrphans } from './owner.ts';
import { adoptSegment, type Segment } from './segment.ts';

/**
 * Takes over the segments of directories whose owner is gone, oldest directory and segment first. A segment is taken by
 * renaming it, which only one process can do.
 *
 * @param nextPath a free path for a segment, with this suffix, in the directory of the adopter.
 */
export function adoptAll(root: string, nextPath: (suffix: string) => string): Segment[] {
  return findOrphans(root).flatMap((directory) => adoptDirectory(directory, nextPath));
}

function adoptDirectory(directory: string, nextPath: (suffix: string) => string): Segment[] {
  try {
    const segments = namesOf(directory).flatMap((name) => {
      // The first part is the sequence number; the rest tells the form, and perhaps the count.
      const target = nextPath(basename(name).slice(name.indexOf('.')));
      return adoptSegment(join(directory, name), target) ?? [];
    });
    rmSync(directory, { recursive: true, force: true });
    return segments;
  } catch {
    // Another process is adopting it, or has done so.
    return [];
  }
}

/** A plain segment whose packed form exists is a left-over: the process ended between the two steps. */
function namesOf(directory: string): string[] {
  const names = readdirSync(directory);
  return names.filter((name) => /\.ndjson(\.gz)?$/.test(name) && !names.includes(`${name}.gz`)).sort();
}
