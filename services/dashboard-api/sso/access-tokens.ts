import { and, eq, isNull } from 'drizzle-orm';
import { roleOfScope } from '../../../store/accounts/key-scope.ts';
import type { Database } from '../../../store/db/database.ts';
import { identities, memberships, spaces, users } from '../../../store/db/schema.ts';
import type { ReadKeyUser } from '../accounts/read-keys.ts';
import { refusal } from '../refusal.ts';
import { mcpResource, type SsoProvider } from './provider.ts';

/**
 * Finds the person of an access token of the OpenID provider (RFC 9068), as a caller that only reads.
 * @param spaceId the space that is read; undefined for the person's only one.
 * @returns undefined when the provider did not issue the token for MCP, or it has expired.
 * @throws TRPCError FORBIDDEN for a person who never signed in, or is disabled; BAD_REQUEST without one of
 * several spaces; SERVICE_UNAVAILABLE when the provider cannot be reached.
 */
export type FindTokenUser = (token: string, spaceId: string | undefined) => Promise<ReadKeyUser | undefined>;

/** Names the provider that issues access tokens (RFC 9728); for `/mcp/SPACE` with the same path behind it. */
export const tokenMetadataPath = '/.well-known/oauth-protected-resource/mcp';

export function describeTokens(issuer: string, publicUrl: string) {
  return {
    resource: mcpResource(publicUrl),
    resource_name: 'Weir',
    authorization_servers: [issuer],
    // What clients ask for: some providers refuse a request without a scope, and all have this one.
    scopes_supported: ['openid'],
    bearer_methods_supported: ['header'],
  };
}

/** Each use of a token reads the person's memberships, so that a removed member is refused at once. */
export function openTokenUsers(database: Database, provider: SsoProvider): FindTokenUser {
  return async (token, spaceId) => {
    const identity = await provider.verify(token).catch((failure: unknown) => {
      const text = 'The OpenID provider cannot be reached. Try again in a moment.';
      throw refusal('SERVICE_UNAVAILABLE', text, failure);
    });
    if (identity === undefined) return undefined;
    const rows = await database
      .select({ userId: users.id, id: spaces.id, name: spaces.name, deleteAt: spaces.deleteAt })
      .from(identities)
      .innerJoin(users, eq(users.id, identities.userId))
      .leftJoin(memberships, eq(memberships.userId, users.id))
      .leftJoin(spaces, eq(spaces.id, memberships.spaceId))
      .where(
        and(
          eq(identities.issuer, identity.issuer),
          eq(identities.subject, identity.subject),
          isNull(users.disabledAt),
        ),
      )
      .orderBy(spaces.id);
    const [first] = rows;
    if (first === undefined)
      throw refusal('FORBIDDEN', 'Weir does not know this person: sign in to the dashboard once.');
    // A program gets no more than it needs, whatever role the person has.
    const role = roleOfScope.events;
    const own = rows.flatMap(({ id, name, deleteAt }) =>
      id === null || name === null ? [] : [{ id, name, role, deleteAt }],
    );
    if (spaceId === undefined && own.length > 1)
      throw refusal('BAD_REQUEST', 'You belong to several spaces: name one in the address, /mcp/SPACE_ID.');
    return {
      userId: first.userId,
      // No session: no grant for a change holds.
      sessionId: first.userId,
      holderId: first.userId,
      currentSpaceId: spaceId ?? own[0]?.id ?? null,
      spaces: own,
      scope: 'events',
    };
  };
}
