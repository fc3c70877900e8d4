import type { Actor } from '../../store/accounts/audit/audit.ts';
import type { Grant } from '../../store/accounts/audit/grant.ts';
import { hasRole, type Role } from '../../store/accounts/role.ts';
import type { AnnotationKeyUser, ReadKeys, ReadKeyUser } from './accounts/read-keys.ts';
import type { Sessions, SessionUser, SpaceUser } from './accounts/session.ts';
import { refusal } from './refusal.ts';

/**
 * The tenancy boundary: session → member of the space → role, or read key → its space → its scope.
 * Procedures, live streams and downloads check the caller only with these functions, and open a SpaceData or
 * a SpaceAdmin only for the space that they return. A change's statement checks again
 * (store/accounts/audit/grant.ts), for the actor made here. A space of others is answered like one that does
 * not exist, so that ids are not revealed.
 */

export interface Callers {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly readKeys: ReadKeys;
}

/** What a request authenticates with. With a read key the session is ignored. */
export interface Credentials {
  readonly token: string | undefined;
  readonly readKey: string | undefined;
}

/** Checked with {@link requireRole}. */
export type Caller = SessionUser | ReadKeyUser;

/**
 * A read key, or the user of a session with the memberships, as they are now in Postgres.
 * @throws TRPCError UNAUTHORIZED without both, or when the key or the session has ended or expired;
 * FORBIDDEN for a key that only adds notes.
 */
export async function requireCaller(
  { sessions, readKeys }: Callers,
  { token, readKey }: Credentials,
): Promise<Caller> {
  if (readKey === undefined)
    return requireSignedIn(token === undefined ? undefined : await sessions.find(token));
  const user = await requireKey(readKeys, readKey);
  if (user.scope === 'annotation') throw refusal('FORBIDDEN', 'This key only adds notes.');
  return user;
}

/**
 * Reads the key of a request that adds notes.
 * @throws TRPCError UNAUTHORIZED when the key is not valid; FORBIDDEN when it has another scope.
 */
export async function requireAnnotator({ readKeys }: Callers, readKey: string): Promise<AnnotationKeyUser> {
  const user = await requireKey(readKeys, readKey);
  if (user.scope === 'annotation') return user;
  throw refusal('FORBIDDEN', 'A read key cannot change anything.');
}

async function requireKey(readKeys: ReadKeys, key: string): Promise<ReadKeyUser | AnnotationKeyUser> {
  const user = await readKeys.find(key);
  if (user !== undefined) return user;
  throw refusal(
    'UNAUTHORIZED',
    'The read key is unknown, was revoked or has expired. Keys that send events cannot read.',
  );
}

/** @throws TRPCError FORBIDDEN for the scope `statistics`, unless the call returns only statistics. */
export function requireScope(caller: SpaceUser, { isStatistics }: { isStatistics: boolean }): void {
  if (isStatistics || !('scope' in caller) || caller.scope !== 'statistics') return;
  throw refusal('FORBIDDEN', 'This read key reads statistics, not events.');
}

/** @throws TRPCError UNAUTHORIZED without a user; FORBIDDEN when a second factor must be added first. */
export function requireSignedIn(found: SessionUser | undefined): SessionUser {
  const user = requireSession(found);
  if (!user.mustEnrol) return user;
  throw refusal('FORBIDDEN', 'Weir requires a second factor: add an authenticator app or a passkey first.');
}

/** @throws TRPCError UNAUTHORIZED without a user. */
export function requireSession(user: SessionUser | undefined): SessionUser {
  if (user === undefined) throw refusal('UNAUTHORIZED', 'Sign in first.');
  return user;
}

interface AskedAccess {
  /** Undefined for the space selected in the session, or the user's only one. */
  readonly spaceId: string | undefined;
  readonly least: Role;
  /** Whether the procedure is allowed in a space that is marked as deleted. */
  readonly isOfDeleted?: boolean;
}

/**
 * @throws TRPCError NOT_FOUND for a space of others; FORBIDDEN when the role is lower than `least`, or the
 * space is marked as deleted; BAD_REQUEST when no space is named and the user has several.
 */
export function requireRole(user: SpaceUser, { spaceId: asked, least, isOfDeleted = false }: AskedAccess) {
  const spaceId = asked ?? user.currentSpaceId;
  if (spaceId === null && user.spaces.length > 1) {
    throw refusal('BAD_REQUEST', 'spaceId: you belong to several spaces, so name one.');
  }
  const space = user.spaces.find(({ id }) => id === spaceId);
  if (space === undefined) throw refusal('NOT_FOUND', 'There is no such space.');
  if (space.deleteAt !== null && !isOfDeleted) {
    throw refusal(
      'FORBIDDEN',
      `The space will be deleted at ${space.deleteAt.toISOString()}. Until then an owner can restore it.`,
    );
  }
  if (!hasRole(space.role, least)) {
    throw refusal('FORBIDDEN', `This needs the role ${least} in the space.`);
  }
  return { spaceId: space.id, role: space.role };
}

/** @throws TRPCError FORBIDDEN when the user has the role `least` in no space. */
export function requireRoleSomewhere(user: SpaceUser, least: Role): void {
  if (user.spaces.some(({ role, deleteAt }) => deleteAt === null && hasRole(role, least))) return;
  throw refusal('FORBIDDEN', `This needs the role ${least} in a space.`);
}

/** The actor of a call's changes, with its session and the role and confirmation that the changes require. */
export function actorOf(
  { userId, sessionId }: SpaceUser,
  address: string,
  more: Omit<Grant, 'sessionId'> = {},
): Actor {
  return { id: userId, address, grant: { sessionId, ...more } };
}
