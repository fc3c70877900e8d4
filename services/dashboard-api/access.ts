import { TRPCError } from '@trpc/server';
import type { Actor } from '../../lib/accounts/audit/audit.ts';
import type { Grant } from '../../lib/accounts/audit/grant.ts';
import { hasRole, type Role } from '../../lib/accounts/role.ts';
import type { Sessions, SessionUser } from './accounts/session.ts';

/**
 * The tenancy boundary: session → member of the space → role. Procedures, live streams and downloads check the caller only with
 * these functions, and open a SpaceStore or a SpaceAdmin only for the space that they return. The statement of a change checks
 * again (lib/accounts/audit/grant.ts), for the actor created here.
 *
 * A space of which the user is not a member is answered like one that does not exist, so that ids of spaces are not revealed.
 */

/** A space that the user may use, with the user's role in it. */
export interface SpaceAccess {
  spaceId: string;
  role: Role;
}

/**
 * Reads the user of a session, with the session and the memberships as they are now in Postgres.
 *
 * @throws TRPCError UNAUTHORIZED without a token, or when the session has ended or expired.
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
 * @param asked the space; undefined for the one selected in the session, or the user's only one.
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

/** @throws TRPCError FORBIDDEN when the user has the role `least` in no space. */
export function requireRoleSomewhere(user: SessionUser, least: Role): void {
  if (user.spaces.some(({ role }) => hasRole(role, least))) return;
  throw new TRPCError({ code: 'FORBIDDEN', message: `This needs the role ${least} in a space.` });
}

/** The actor of a call's changes, with its session and the role and confirmation that the changes require. */
export function actorOf(
  { userId, sessionId }: SessionUser,
  address: string,
  more: Omit<Grant, 'sessionId'> = {},
): Actor {
  return { id: userId, address, grant: { sessionId, ...more } };
}
