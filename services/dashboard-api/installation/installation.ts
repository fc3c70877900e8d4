import { examine } from '../../../operations/doctor/doctor.ts';
import type { Finding } from '../../../operations/doctor/finding.ts';
import { readStorageSizes, type StorageSizes } from '../../../operations/storage/storage-sizes.ts';
import type { Config } from '../../../platform/config.ts';
import { shareResult } from '../../../platform/shared-result.ts';
import type { Database } from '../../../store/db/database.ts';
import { noSpace } from '../../../store/db/limits.ts';
import { type DelayHistory, readDelays } from '../../../store/store-delays/read-delays.ts';
import { figuresReuseMs } from './limits.ts';
import { type QuarantineReason, readQuarantineReasons } from './quarantine-reasons.ts';
import { type QueueState, readQueueState } from './queue-state.ts';
import { type RetentionState, readRetentionState } from './retention-state.ts';

/**
 * The state of the installation, for its operators. Each part is read by itself, so that the others are shown while nats-server or
 * Postgres is away. No part has data of a space.
 */
export interface Installation {
  /** @throws QueueAwayError */
  readonly queue: () => Promise<QueueState>;
  readonly delays: (range: { fromMs: number; toMs: number }) => Promise<DelayHistory>;
  readonly storage: () => Promise<StorageSizes>;
  readonly retention: () => Promise<RetentionState>;
  readonly quarantine: () => Promise<QuarantineReason[]>;
  /** What `weir doctor` finds. Never rejects: what cannot be reached is a finding. */
  readonly doctor: () => Promise<Finding[]>;
}

export function openInstallation(database: Database, config: Config): Installation {
  return {
    queue: shareResult(figuresReuseMs, () => readQueueState(config)),
    delays: (range) => readDelays(database, noSpace, range),
    storage: shareResult(figuresReuseMs, () => readStorageSizes(database, Date.now())),
    retention: shareResult(figuresReuseMs, () => readRetentionState(database, config.RETENTION_DAYS_MAX)),
    quarantine: shareResult(figuresReuseMs, () => readQuarantineReasons(database)),
    doctor: shareResult(figuresReuseMs, () => examine(config)),
  };
}
