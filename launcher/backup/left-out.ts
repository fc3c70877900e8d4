/**
 * What a copy of a running data directory must not have, or need not have (Postgres' documentation, "Backing Up The Data Directory").
 */

/** Their content is made again at the start. The directories must exist. */
const emptied = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const files = [
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'backup_label.old',
  'tablespace_map',
  'backup_manifest',
];

export function isLeftOut(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    emptied.some((directory) => path.startsWith(`${directory}/`)) ||
    files.includes(path) ||
    name.startsWith('pgsql_tmp') ||
    name.startsWith('pg_internal.init') ||
    name.startsWith('postgresql.auto.conf.tmp')
  );
}
