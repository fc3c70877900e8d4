import { readMachine } from '../../machine.ts';

const mebibyte = 1024 ** 2;

export const fixedSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // For backups of the running server (ADR 33). `keepArchiveCommand` sets the directory.
  wal_level: 'replica',
  archive_mode: 'on',
  max_wal_senders: '0',
  // With the default of 1 GB, bulk writing causes constant checkpoints, and each one doubles the WAL volume.
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // A list locks each weekly partition and its indexes: some 1,800 locks with five years of them. The default
  // of 64 is enough for only 25 such lists at the same time (ADR 0016).
  max_locks_per_transaction: '512',
  // Our statements are short: JIT compilation costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  // By default Postgres logs the whole row that a constraint rejects. A row contains event content.
  log_error_verbosity: 'terse',
};

export function embeddedSettings({ memoryBytes } = readMachine()): Record<string, string> {
  return { ...fixedSettings, shared_buffers: `${sharedBuffersMb(memoryBytes)}MB` };
}

/**
 * An eighth of the memory, between 256 MiB and 4 GiB. Ids of events are random: each event changes another
 * page of two indexes, and reading and writing pages outside these buffers takes a quarter of Postgres' CPU
 * time with fifty million events (ADR 0041). The rest is for the services and the system's cache.
 */
function sharedBuffersMb(memoryBytes: number): number {
  return Math.min(Math.max(Math.floor(memoryBytes / 8 / mebibyte), 256), 4_096);
}
