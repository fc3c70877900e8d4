import type { Limiter } from '../../platform/limiter.ts';
import type { Actor } from '../../store/accounts/audit/audit.ts';
import type { Database } from '../../store/db/database.ts';
import type { OpenBytes } from '../../store/segments/open-segments.ts';
import type { LiveStreams } from './live/live-streams.ts';
import type { SegmentSearcher } from './search/segment-searcher.ts';

/** A space opened for one reader (access.ts): rows of tenants are read by its id, never by an input's. */
export interface SpaceData {
  readonly spaceId: string;
  /** Statements take turns with those of other callers (fair-limiter.ts). */
  readonly database: Database;
  /** Limits how many events are opened at a time over all spaces, fairly between users. */
  readonly openingLimiter: Limiter;
  /** Limits concurrent searches in the same way. */
  readonly searchLimiter: Limiter;
  /** Limits the charts that are computed at a time in the same way. */
  readonly chartLimiter: Limiter;
  /** Off the event loop. */
  readonly searcher: Pick<SegmentSearcher, 'find'>;
  readonly openBytes: OpenBytes;
  readonly streams: LiveStreams;
}

/** What reads of columns need. */
export type SpaceRows = Pick<SpaceData, 'database' | 'spaceId'>;

/** What reads of the text of events need. */
export type SpaceTexts = SpaceRows & Pick<SpaceData, 'openingLimiter'>;

/** What changes of members and settings need. Bound to the actor, so that every change has an audit row. */
export interface SpaceAdmin {
  readonly database: Database;
  readonly spaceId: string;
  readonly actor: Actor;
  readonly pepper: string;
  readonly retentionDaysMax: number | undefined;
  readonly alerts: { hasMail: boolean; isPrivateAllowed: boolean; publicUrl: string | undefined };
  /** Runs inserts with a limit one after another: concurrent ones would not count each other's rows. */
  readonly inTurn: Limiter;
}
