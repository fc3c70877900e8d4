/** A setting: a shell command that fetches a segment of WAL from the first directory that has it. */
export function restoreCommand(directories: readonly string[]): string {
  return directories.map((directory) => `cp ${quote(directory)}/%f %p 2>/dev/null`).join(' || ');
}

/** Quotes for the shell, and `%` for Postgres, which replaces `%p` by a path without special characters. */
function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}
