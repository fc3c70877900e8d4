import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { isArchiving } from '../../lib/backup/backup-state.ts';
import type { Transaction } from '../../lib/db/database.ts';
import { dayMs } from '../../lib/time.ts';
import type { Erasure, ErasureCounts } from './erasure-row.ts';
import type { RewrittenFiles } from './rewritten-files.ts';

/** When a storage location no longer contains the erased data, and the settings that determine it. */
export interface Forgotten {
  /** ISO 8601; null when unknown. */
  readonly at: string | null;
  readonly from: string;
}

/** What an erasure did, for the operator's records. Times are ISO 8601. */
export interface Receipt {
  readonly erasureId: string;
  readonly spaceId: string;
  readonly subject: Readonly<Record<string, string>>;
  readonly reason: string | null;
  /** Events accepted before this time are erased. */
  readonly startedAt: string;
  readonly completedAt: string;
  readonly erased: ErasureCounts;
  /** What is kept by design: docs/erasure.md. */
  readonly kept: readonly string[];
  /** Tables that were rewritten into new files. */
  readonly rewrittenTables: readonly string[];
  readonly forgotten: { readonly queue: Forgotten; readonly wal: Forgotten; readonly backups: Forgotten };
  /** Other places that may still contain erased data. */
  readonly notReached: readonly string[];
}

export interface ReceiptInput {
  readonly erasure: Erasure;
  readonly counts: ErasureCounts;
  readonly completedAt: Date;
  readonly files: RewrittenFiles;
  readonly queue: Forgotten;
  /** The setting BACKUP_RETENTION_DAYS. */
  readonly backupRetentionDays: number | undefined;
  readonly notReached: readonly string[];
}

/**
 * The receipt as it is stored: the user or thread is replaced by `sha256:` and the hash of `SPACE:user:ID`, so that somebody who has the
 * id can verify whom the receipt is about.
 */
export function storedReceipt(receipt: Receipt): Receipt {
  const { spaceId, subject } = receipt;
  const hashed = Object.entries(subject).map(([kind, value]) => {
    if (kind === 'before') return [kind, value];
    const hash = createHash('sha256').update(`${spaceId}:${kind}:${value}`).digest('hex');
    return [kind, `sha256:${hash}`];
  });
  return { ...receipt, subject: Object.fromEntries(hashed) };
}

export async function writeReceipt(database: Transaction, input: ReceiptInput): Promise<Receipt> {
  const { erasure, counts, completedAt, files, queue, backupRetentionDays } = input;
  const { id, spaceId, subject, reason, start } = erasure;
  const backups = forgottenByBackups(completedAt, backupRetentionDays);
  return {
    erasureId: id,
    spaceId,
    subject:
      subject.kind === 'before'
        ? { before: new Date(subject.timeMs).toISOString() }
        : { [subject.kind]: subject.value },
    reason,
    startedAt: new Date(start.atMs).toISOString(),
    completedAt: completedAt.toISOString(),
    erased: counts,
    kept: ['ids (tombstones)', 'usage per month', 'statistics per minute'],
    rewrittenTables: files.rewritten,
    forgotten: {
      queue,
      wal: await forgottenByWal(database, completedAt, backups),
      backups,
    },
    notReached: [
      ...input.notReached,
      ...files.left.map((table) => `${table}: not written into a new file; see docs/erasure.md`),
    ],
  };
}

function forgottenByBackups(completedAt: Date, days: number | undefined): Forgotten {
  if (days === undefined)
    return { at: null, from: 'BACKUP_RETENTION_DAYS is not set, so the retention of backups is unknown' };
  return {
    at: new Date(completedAt.getTime() + days * dayMs).toISOString(),
    from: `BACKUP_RETENTION_DAYS=${days}`,
  };
}

/** A checkpoint removes WAL that crash recovery does not need, unless an archive, a standby or a setting keeps it. */
async function forgottenByWal(
  database: Transaction,
  completedAt: Date,
  backups: Forgotten,
): Promise<Forgotten> {
  const [row] = await database.execute<{
    lsn: string;
    archiveMode: string;
    keepSize: string;
    timeoutSeconds: number;
    slots: number;
  }>(sql`
    SELECT pg_current_wal_lsn()::text AS lsn, CASE WHEN ${isArchiving} THEN current_setting('archive_mode') ELSE 'off' END AS "archiveMode",
      current_setting('wal_keep_size') AS "keepSize",
      extract(epoch FROM current_setting('checkpoint_timeout')::interval)::float8 AS "timeoutSeconds",
      (SELECT count(*)::integer FROM pg_replication_slots) AS slots`);
  if (row === undefined) throw new Error('SELECT returned no row');
  const { lsn, archiveMode, keepSize, timeoutSeconds, slots } = row;
  const settings = `up to ${lsn}; archive_mode=${archiveMode}, wal_keep_size=${keepSize}, ${slots} replication slots, checkpoint_timeout=${timeoutSeconds}s`;
  if (archiveMode !== 'off')
    return { at: backups.at, from: `${settings}; the archive is kept like backups: ${backups.from}` };
  if (slots > 0 || keepSize !== '0') return { at: null, from: `${settings}: replication keeps WAL` };
  // The first checkpoint that begins after completion has finished by then.
  const at = new Date(completedAt.getTime() + 2 * timeoutSeconds * 1_000).toISOString();
  return { at, from: `${settings}; a recycled file keeps its old bytes until it is overwritten` };
}
