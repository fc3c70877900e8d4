import { randomUUID } from 'node:crypto';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { runAudited } from '../../../store/accounts/audit/audit.ts';
import { isEmail, normalizeEmail } from '../../../store/accounts/email.ts';
import { isMakerTrusted, isOpenInvitation } from '../../../store/accounts/open-invitations.ts';
import { removeSecondFactors } from '../../../store/accounts/second-factor/second-factors.ts';
import type { Database } from '../../../store/db/database.ts';
import { identities, invitations, sessions, signInLinks, users } from '../../../store/db/schema.ts';
import { namesOf } from '../../../store/db/statement.ts';
import type { ProvenIdentity } from './provider.ts';

export type FindIdentityUser = (identity: ProvenIdentity, address: string) => Promise<string | undefined>;

/**
 * Accepts a linked identity; otherwise, by the verified e-mail address, an existing user, a person with an
 * open invitation, or anyone of the allowed domains. @returns undefined when it is not accepted.
 */
export function openIdentityUsers(database: Database, allowedDomains: readonly string[]): FindIdentityUser {
  return async (identity, address) => {
    const { issuer, subject, verifiedEmail } = identity;
    const linked = await findLinked(database, identity);
    const email = normalizeEmail(verifiedEmail ?? '');
    if (linked !== undefined || !isEmail(email)) return linked;
    const [user] = await database.select({ id: users.id }).from(users).where(eq(users.email, email));
    if (user !== undefined) return link(database, user.id, { issuer, subject, address });
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (!allowedDomains.includes(domain) && !(await isInvited(database, email))) return undefined;
    await create(database, email, { issuer, subject, address });
    // A concurrent call may have created or linked it first.
    return findLinked(database, identity);
  };
}

async function findLinked(
  database: Database,
  { issuer, subject }: ProvenIdentity,
): Promise<string | undefined> {
  const [linked] = await database
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return linked?.userId;
}

/**
 * Links an identity to the user with its address, one per issuer: if the provider later gives the address to
 * another person, that person is not the user. The provider has verified the address, while the password was
 * set without proof: so password, second factors, sessions and sign-in links end.
 */
async function link(
  database: Database,
  userId: string,
  { issuer, subject, address }: { issuer: string; subject: string; address: string },
): Promise<string | undefined> {
  const part = (name: string, statement: SQL) => database.$with(name, {}).as(statement);
  // So that two identities cannot be linked concurrently.
  const changed = database.$with('changed').as(
    database
      .update(users)
      .set({ passwordHash: null, emailVerifiedAt: sql`now()` })
      .where(
        and(
          eq(users.id, userId),
          sql`NOT EXISTS (SELECT 1 FROM ${identities}
            WHERE ${and(eq(identities.userId, userId), eq(identities.issuer, issuer))})`,
        ),
      )
      .returning({ userId: users.id }),
  );
  const linked = part(
    'linked',
    sql`
    INSERT INTO ${identities} (${namesOf([identities.issuer, identities.subject, identities.userId])})
    SELECT ${issuer}::text, ${subject}::text, ${changed.userId} FROM ${changed}`,
  );
  const entry = {
    userId: changed.userId,
    actor: { id: userId, address },
    action: 'user.link',
    target: userId,
    details: { issuer },
  };
  const rows = await runAudited(database, changed, { ...entry, after: [linked] });
  if (rows.length === 0) return undefined;
  await database.delete(sessions).where(eq(sessions.userId, userId));
  await database.delete(signInLinks).where(eq(signInLinks.userId, userId));
  // Last: without a password and a session no second factor is added any more.
  await removeSecondFactors(database, userId);
  return userId;
}

async function isInvited(database: Database, email: string): Promise<boolean> {
  const open = await database
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(eq(invitations.email, email), isOpenInvitation, isMakerTrusted(database)))
    .limit(1);
  return open.length > 0;
}

/** Creates a user without a password. Does nothing if the e-mail address belongs to a user by then. */
async function create(
  database: Database,
  email: string,
  { issuer, subject, address }: { issuer: string; subject: string; address: string },
): Promise<void> {
  const created = database
    .$with('created')
    .as(
      database
        .insert(users)
        .values({ id: randomUUID(), email, emailVerifiedAt: sql`now()` })
        .onConflictDoNothing()
        .returning({ userId: users.id }),
    );
  const linked = database.$with('linked', {}).as(sql`
    INSERT INTO ${identities} (${namesOf([identities.issuer, identities.subject, identities.userId])})
    SELECT ${issuer}::text, ${subject}::text, ${created.userId} FROM ${created}
    ON CONFLICT DO NOTHING`);
  const entry = {
    userId: created.userId,
    actor: { id: sql`${created.userId}`, address },
    action: 'user.create',
    target: created.userId,
    details: { issuer },
  };
  await runAudited(database, created, { ...entry, after: [linked] });
}
