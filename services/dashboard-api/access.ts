import { TRPCError } from '@trpc/server';
import type { Actor } from '../../lib/accounts/audit/audit.ts';
import type { Grant } from '../../lib/accounts/audit/grant.ts';
import { hasRole, type Role } from '../../lib/accounts/role.ts';
import type { Sessions, SessionUser } from './accounts/session.ts';

/**
 * The tenancy boundary: session → member of the space → role. Procedures, live streams and downloads check the caller with
 * these functions only, and open a SpaceStore or a SpaceAdmin only for the space that they return. A change is checked again in
 * its own statement (lib/accounts/audit/grant.ts), by the actor that is made here.
 *
 * A space that the user is not a member of is answered like one that does not exist, so that nobody learns which ids exist.
 */

/** A space that the user may use, with the user's role in it. */
export interface SpaceAccess {
  spaceId: string;
  role: Role;
}

/**
 * Reads the user of a session, as Postgres has the session and the memberships now.
 *
 * @throws TRPCError UNAUTHORIZED without a token, and when the session has ended or expired.
 */
export async function requireUser(
  sessions: Pick<Sessions, 'find'>,
  token: string | undefined,
): Promise<SessionUser> {
  return requireSignedIn(token === undefined ? undefined : await sessions.find(token));
}

/** @throws TRPCError UNAUTHORIZED without a user. */
export function requireSignedIn(user: SessionUser | undefined): SessionUser {
  if (user === undefined) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first.' });
  return user;
}

/**
 * Requires that the user has at least the role `least` in a space.
 *
 * @param asked the space; undefined for the one that the session switched to, or the user's only one.
 * @throws TRPCError NOT_FOUND when the user is not a member of it; FORBIDDEN when the role is lower; BAD_REQUEST when
 *   `asked` is undefined and the user has several spaces.
 */
export function requireRole(user: SessionUser, asked: string | undefined, least: Role): SpaceAccess {
  const spaceId = asked ?? user.currentSpaceId;
  if (spaceId === null && user.spaces.length > 1) {
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message: 'spaceId: you belong to several spaces, so name one.',
    });
  }
  const space = user.spaces.find(({ id }) => id === spaceId);
  if (space === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such space.' });
  if (!hasRole(space.role, least)) {
    throw new TRPCError({ code: 'FORBIDDEN', message: `This needs the role ${least} in the space.` });
  }
  return { spaceId: space.id, role: space.role };
}

/** @throws TRPCError FORBIDDEN when the user has at least the role `least` in no space. */
export function requireRoleSomewhere(user: SessionUser, least: Role): void {
  if (user.spaces.some(({ role }) => hasRole(role, least))) return;
  throw new TRPCError({ code: 'FORBIDDEN', message: `This needs the role ${least} in a space.` });
}

/** Who makes the changes of a call, with the session, and what else these changes take. */
export function actorOf(
  { userId, sessionId }: SessionUser,
  address: string,
  more: Omit<Grant, 'sessionId'> = {},
): Actor {
  return { id: userId, address, grant: { sessionId, ...more } };
}
