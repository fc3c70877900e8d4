import type { Limiter } from '../../../platform/limiter.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';

/**
 * What changes of one space's members and settings need. Like a SpaceData it is bound to the space's id, and also to the actor, so
 * that every change has an audit row.
 */
export interface SpaceAdmin {
  readonly database: Database;
  readonly spaceId: string;
  readonly actor: Actor;
  /** The secret used to hash API keys. */
  readonly pepper: string;
  /** The setting RETENTION_DAYS_MAX. */
  readonly retentionDaysMax: number | undefined;
  readonly alerts: AlertSettings;
  /** Runs the space's inserts that have a limit one after another: statements at the same time do not count each other's rows. */
  readonly inTurn: Limiter;
}

export interface AlertSettings {
  /** Whether SMTP_URL is set. */
  readonly hasMail: boolean;
  /** ALERT_TARGETS_PRIVATE. */
  readonly isPrivateAllowed: boolean;
  /** DASHBOARD_PUBLIC_URL. */
  readonly publicUrl: string | undefined;
}
