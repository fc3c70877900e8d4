import type { SpoolStore } from './queue/spool-store.ts';
import { FileSpool, type FileSpoolOptions } from './spool/file-spool.ts';

export type { FileSpoolOptions, SpoolStore };

/**
 * Opens a spool: a directory that stores events until Weir has accepted them. They survive signals and
 * crashes of the process, and the next process that opens the directory delivers them. For Node, Bun and
 * Deno.
 *
 * @throws Error when the directory cannot be created, so that a wrong path is found at the start.
 */
export function fileSpool(options: FileSpoolOptions): SpoolStore {
  return new FileSpool(options);
}
