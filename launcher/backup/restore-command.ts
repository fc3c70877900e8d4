/**
 * The setting with which Postgres fetches a segment of WAL from the first directory that has it. Postgres runs it with a shell; a
 * segment that no directory has ends the recovery.
 */
export function restoreCommand(directories: readonly string[]): string {
  return directories.map((directory) => `cp ${quote(directory)}/%f %p 2>/dev/null`).join(' || ');
}

/** For the shell, and `%` for Postgres. `%p` is a path below the data directory, without special characters. */
function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}
