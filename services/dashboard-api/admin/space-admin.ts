import { type ErasurePreview, previewErasure } from '../../../operations/erasure/preview.ts';
import type { EventsSubject } from '../../../operations/erasure/subject.ts';
import {
  type CompletedErasure,
  listErasures,
  listRequests,
  type OpenRequest,
  requestErasure,
} from '../../../operations/erasure-requests/requests.ts';
import { deleteSpace, restoreSpace } from '../../../operations/erasure-requests/space-deletion.ts';
import type { Limiter } from '../../../platform/limiter.ts';
import {
  type IssuedApiKey,
  issueApiKeyBelow,
  revokeApiKey,
  rollApiKey,
} from '../../../store/accounts/api-keys.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import { type AuditQuery, type AuditRow, listAudit } from '../../../store/accounts/audit/audit-list.ts';
import type { KeyScope } from '../../../store/accounts/key-scope.ts';
import type { Role } from '../../../store/accounts/role.ts';
import { changeSpace, readSpace, type Space } from '../../../store/accounts/spaces.ts';
import {
  readUsageDays,
  readUsageMonths,
  type UsageDay,
  type UsageMonth,
} from '../../../store/accounts/usage.ts';
import type { Database } from '../../../store/db/database.ts';
import { previewRetention, type RetentionPreview } from '../../../store/retention/retention-preview.ts';
import {
  listQuarantine,
  type QuarantineEntry,
  type QuarantinePage,
} from '../../../store/write/quarantine.ts';
import { type ReplayResult, replayQuarantined } from '../../../store/write/replay.ts';
import { type AlertOptions, openSpaceAlerts, type SpaceAlerts } from '../alerts/space-alerts.ts';
import { apiKeysMax, erasurePreviewMs, usageMonthsMax } from '../limits.ts';
import {
  type CreatedInvitation,
  createInvitation,
  listInvitations,
  type NewInvitation,
  type OpenInvitation,
  revokeInvitation,
} from './invitation-list.ts';
import { type ListedApiKey, listKeys } from './key-list.ts';
import { endSessionsOfMember } from './member-sessions.ts';
import { changeRole, listMembers, type Member, type MemberChange, removeMember } from './members.ts';

/**
 * The settings of one space. Like a SpaceData it is bound to the space's id, and also to the actor, so that every change has an
 * audit row.
 */
export interface SpaceAdmin {
  listMembers(): Promise<Member[]>;
  changeRole(member: { userId: string; role: Role }): Promise<MemberChange>;
  removeMember(userId: string): Promise<MemberChange>;
  /** Ends all sessions of a member. @returns how many; or why the actor may not. */
  endSessions(userId: string): Promise<number | 'not_a_member' | 'owner_only'>;
  listInvitations(): Promise<OpenInvitation[]>;
  createInvitation(invitation: NewInvitation): Promise<CreatedInvitation | 'is_member' | 'too_many'>;
  revokeInvitation(id: string): Promise<boolean>;
  /** The space with its plan. @returns undefined when it was deleted meanwhile. */
  readSpace(): Promise<Space | undefined>;
  rename(name: string): Promise<Space | undefined>;
  /** What a retention in days would delete now; null keeps events forever. */
  previewRetention(days: number | null): Promise<RetentionPreview>;
  setRetention(days: number | null): Promise<Space | undefined>;
  /** Marks the space as deleted. @returns undefined when it was deleted meanwhile. */
  deleteSpace(): Promise<Space | undefined>;
  /** @returns undefined when the space is not marked as deleted, or its deletion has begun. */
  restoreSpace(): Promise<Space | undefined>;
  usageDays(range: { from: string; to: string }): Promise<UsageDay[]>;
  usageMonths(): Promise<UsageMonth[]>;
  listKeys(): Promise<ListedApiKey[]>;
  /** @returns undefined when there are too many. */
  createKey(key: {
    name: string;
    expiresAt: Date | undefined;
    scope: KeyScope;
  }): Promise<IssuedApiKey | undefined>;
  /** @returns undefined when the space has no such active key, or when it was rolled before. */
  rollKey(key: { keyId: string; overlapMs: number }): Promise<IssuedApiKey | undefined>;
  /** @returns whether the space has the key. */
  revokeKey(keyId: string): Promise<boolean>;
  listAudit(query: AuditQuery): Promise<AuditRow[]>;
  listQuarantine(page: QuarantinePage): Promise<QuarantineEntry[]>;
  replay(ids: readonly string[]): Promise<ReplayResult>;
  /** What an erasure would delete now. */
  previewErasure(subject: EventsSubject): Promise<ErasurePreview>;
  /** @returns the id of the request; undefined when too many are open. */
  requestErasure(subject: EventsSubject, reason: string | undefined): Promise<string | undefined>;
  readonly alerts: SpaceAlerts;
  listErasures(): Promise<{ requests: OpenRequest[]; erasures: CompletedErasure[] }>;
}

/** Dependencies shared by the admins of all spaces. */
export interface SharedAdmin {
  database: Database;
  /** The secret used to hash API keys. */
  pepper: string;
  /** The setting RETENTION_DAYS_MAX. */
  retentionDaysMax: number | undefined;
  alerts: Omit<AlertOptions, 'pepper' | 'inTurn'>;
  /** Runs the space's inserts that have a limit one after another: statements at the same time do not count each other's rows. */
  inTurn: Limiter;
}

export function openSpaceAdmin(
  { database, pepper, retentionDaysMax, alerts, inTurn }: SharedAdmin,
  spaceId: string,
  actor: Actor,
): SpaceAdmin {
  return {
    listMembers: () => listMembers(database, spaceId),
    changeRole: (member) => changeRole(database, spaceId, { ...member, actor }),
    removeMember: (userId) => removeMember(database, spaceId, { userId, actor }),
    listInvitations: () => listInvitations(database, spaceId),
    createInvitation: (invitation) =>
      inTurn(() => createInvitation(database, spaceId, { ...invitation, actor })),
    revokeInvitation: (id) => revokeInvitation(database, spaceId, { id, actor }),
    readSpace: () => readSpace(database, spaceId),
    endSessions: (userId) => endSessionsOfMember(database, spaceId, { userId, actor }),
    rename: (name) => changeSpace(database, spaceId, { name }, actor),
    previewRetention: (days) =>
      previewRetention(database, spaceId, days, { nowMs: Date.now(), retentionDaysMax }),
    setRetention: (retentionDays) => changeSpace(database, spaceId, { retentionDays }, actor),
    deleteSpace: () => deleteSpace(database, spaceId, { actor }),
    restoreSpace: () => restoreSpace(database, spaceId, actor),
    usageDays: (range) => readUsageDays(database, spaceId, range),
    usageMonths: () => readUsageMonths(database, spaceId, usageMonthsMax),
    listKeys: () => listKeys(database, spaceId),
    createKey: (key) =>
      inTurn(() => issueApiKeyBelow(database, spaceId, { ...key, pepper, actor, keysMax: apiKeysMax })),
    rollKey: (key) => rollApiKey(database, spaceId, { ...key, pepper, actor }),
    revokeKey: async (keyId) => (await revokeApiKey(database, keyId, { spaceId, actor })) !== undefined,
    listAudit: (query) => listAudit(database, spaceId, query),
    listQuarantine: (page) => listQuarantine(database, spaceId, page),
    replay: (ids) => replayQuarantined(database, { spaceId, ids, actor }),
    previewErasure: (subject) => previewErasure(database, spaceId, subject, erasurePreviewMs),
    requestErasure: (subject, reason) =>
      inTurn(() => requestErasure(database, spaceId, { subject, reason, actor })),
    alerts: openSpaceAlerts(database, spaceId, { ...alerts, actor, pepper, inTurn }),
    listErasures: async () => {
      const [requests, erasures] = await Promise.all([
        listRequests(database, spaceId),
        listErasures(database, spaceId),
      ]);
      return { requests, erasures };
    },
  };
}
