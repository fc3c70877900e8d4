import type { Limiter } from '../../platform/limiter.ts';
import type { Actor } from '../../store/accounts/audit/audit.ts';
import type { Database } from '../../store/db/database.ts';
import type { OpenBytes } from '../../store/segments/open-segments.ts';
import type { LiveStreams } from './live/live-streams.ts';
import type { SegmentSearcher } from './search/segment-searcher.ts';

/**
 * One space's data, opened for one caller who may read it (access.ts). Procedures pass it on whole: a function that reads rows of tenants
 * takes the id from here, so no input can name another space by mistake.
 */
export interface SpaceData {
  readonly spaceId: string;
  /** Its statements take turns with those of other callers (fair-limiter.ts). */
  readonly database: Database;
  /** Limits how many events are opened at a time over all spaces, fairly between users. */
  readonly openingLimiter: Limiter;
  /** Limits concurrent searches in the same way. */
  readonly searchLimiter: Limiter;
  /** Searches the payloads of segments off the event loop. */
  readonly searcher: Pick<SegmentSearcher, 'find'>;
  /** Limits the bytes of the segments that exports keep open. */
  readonly openBytes: OpenBytes;
  readonly streams: LiveStreams;
}

/** What reads of columns need. */
export type SpaceRows = Pick<SpaceData, 'database' | 'spaceId'>;

/** What reads of the text of events need. */
export type SpaceTexts = SpaceRows & Pick<SpaceData, 'openingLimiter'>;

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
