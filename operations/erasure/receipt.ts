import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { dayMs } from '../../platform/time.ts';
import type { Transaction } from '../../store/db/database.ts';
import type { Layout } from '../../store/db/layout/layout.ts';
import { isArchiving } from '../storage/backup-state.ts';
import type { RewrittenFiles } from './cluster/cluster-files.ts';
import type { Erasure, ErasureCounts } from './erasure-row.ts';
import type { Subject } from './subject.ts';

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
  /** What is kept by design: docs/data-lifecycle.md#erasure. */
  readonly kept: readonly string[];
  readonly rewrittenTables: readonly string[];
  readonly forgotten: { readonly queue: Forgotten; readonly wal: Forgotten; readonly backups: Forgotten };
  /** Other places that may still contain erased data. */
  readonly notReached: readonly string[];
}

export interface ReceiptInput {
  readonly erasure: Erasure;
  readonly layout: Layout;
  readonly counts: ErasureCounts;
  readonly completedAt: Date;
  readonly files: RewrittenFiles;
  readonly queue: Forgotten;
  readonly backupRetentionDays: number | undefined;
  readonly notReached: readonly string[];
}

/** The receipt with the hash of `SPACE:user:ID` as user or thread: who has the id can verify it. */
export function storedReceipt(receipt: Receipt): Receipt {
  const { spaceId, subject } = receipt;
  const hashed = Object.entries(subject).map(([kind, value]) => {
    if (kind === 'before' || kind === 'space') return [kind, value];
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
    subject: describeSubject(subject),
    reason,
    startedAt: new Date(start.atMs).toISOString(),
    completedAt: completedAt.toISOString(),
    erased: counts,
    kept:
      subject.kind === 'space'
        ? ['usage per month', 'receipts of erasures', 'who deleted the space']
        : ['ids (tombstones)', 'usage per month', 'statistics per minute'],
    rewrittenTables: files.rewritten,
    forgotten: {
      queue,
      wal: forgottenByWal(await readWalSettings(input.layout, database), completedAt, backups),
      backups,
    },
    notReached: [
      ...input.notReached,
      ...files.left.map(
        (table) => `${table}: not written into a new file; see docs/data-lifecycle.md#erasure`,
      ),
    ],
  };
}

function describeSubject(subject: Subject): Receipt['subject'] {
  if (subject.kind === 'before') return { before: new Date(subject.timeMs).toISOString() };
  return { [subject.kind]: subject.kind === 'space' ? subject.name : subject.value };
}

function forgottenByBackups(completedAt: Date, days: number | undefined): Forgotten {
  if (days === undefined)
    return { at: null, from: 'BACKUP_RETENTION_DAYS is not set, so the retention of backups is unknown' };
  return {
    at: new Date(completedAt.getTime() + days * dayMs).toISOString(),
    from: `BACKUP_RETENTION_DAYS=${days}`,
  };
}

interface WalSettings {
  readonly lsn: string;
  readonly archiveMode: string;
  readonly keepSize: string;
  readonly timeoutSeconds: number;
  readonly slots: number;
}

const walSettings = sql`SELECT json_build_object('lsn', pg_current_wal_lsn(),
  'archiveMode', CASE WHEN ${isArchiving} THEN current_setting('archive_mode') ELSE 'off' END,
  'keepSize', current_setting('wal_keep_size'),
  'timeoutSeconds', extract(epoch FROM current_setting('checkpoint_timeout')::interval)::float8,
  'slots', (SELECT count(*) FROM pg_replication_slots))::text AS settings`;

/** The settings of each server that stores rows of spaces. */
async function readWalSettings(
  layout: Layout,
  database: Transaction,
): Promise<[server: string, WalSettings][]> {
  const ofServers: [string, WalSettings][] = [];
  for (const server of await layout.listServers(database))
    ofServers.push([server.name && `${server.name}: `, JSON.parse(await server.run(walSettings))]);
  return ofServers;
}

/**
 * A checkpoint removes unneeded WAL, unless an archive or a standby keeps it: of nodes the last one decides.
 */
function forgottenByWal(
  ofServers: readonly [string, WalSettings][],
  completedAt: Date,
  backups: Forgotten,
): Forgotten {
  const ofNodes = ofServers.map(([node, settings]): Forgotten => {
    const { at, from } = forgottenByNode(settings, completedAt, backups);
    return { at, from: `${node}${from}` };
  });
  const times = ofNodes.map(({ at }) => at);
  return {
    at: times.includes(null) ? null : (times.toSorted().at(-1) ?? null),
    from: ofNodes.map(({ from }) => from).join('. '),
  };
}

function forgottenByNode(
  { lsn, archiveMode, keepSize, timeoutSeconds, slots }: WalSettings,
  completedAt: Date,
  backups: Forgotten,
): Forgotten {
  const settings = `up to ${lsn}; archive_mode=${archiveMode}, wal_keep_size=${keepSize}, ${slots} replication slots, checkpoint_timeout=${timeoutSeconds}s`;
  if (archiveMode !== 'off')
    return { at: backups.at, from: `${settings}; the archive is kept like backups: ${backups.from}` };
  if (slots > 0 || keepSize !== '0') return { at: null, from: `${settings}: replication keeps WAL` };
  // The first checkpoint that begins after completion has finished by then.
  const at = new Date(completedAt.getTime() + 2 * timeoutSeconds * 1_000).toISOString();
  return { at, from: `${settings}; a recycled file keeps its old bytes until it is overwritten` };
}
