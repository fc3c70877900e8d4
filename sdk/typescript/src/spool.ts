import type { SpoolStore } from './queue/spool-store.ts';
import { FileSpool, type FileSpoolOptions } from './spool/file-spool.ts';

export type { FileSpoolOptions, SpoolStore };

/**
 * Opens a spool: a directory where events wait while Weir cannot take them. They survive a crash of the process, and
 * the next process that opens the directory delivers them. For Node, Bun and Deno.
 *
 * @throws Error when the directory cannot be created: a wrong path should show at the start, not when Weir is away.
 */
export function fileSpool(options: FileSpoolOptions): SpoolStore {
  return new FileSpool(options);
}
