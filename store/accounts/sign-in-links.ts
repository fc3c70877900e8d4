import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { signInLinks } from '../db/schema.ts';
import { auditChange, operator } from './audit/audit.ts';
import { signInLinkTtlMs } from './limits.ts';
import { createToken, hashToken } from './secret-token.ts';

/**
 * Signs a user in, once, within a quarter of an hour. The token is in the fragment, which browsers never
 * send; the page posts it to `auth.redeemLink`. Also deletes earlier expired links.
 * @param dashboardUrl the address at which the browser reaches the dashboard.
 */
export async function createSignInLink(
  database: Database,
  userId: string,
  dashboardUrl: string,
): Promise<string> {
  const token = createToken();
  await database.delete(signInLinks).where(sql`${signInLinks.expiresAt} <= now()`);
  const creation = database
    .insert(signInLinks)
    .values({
      tokenHash: hashToken(token),
      userId,
      expiresAt: sql`now() + ${signInLinkTtlMs}::float8 * interval '1 millisecond'`,
    })
    .returning({ userId: signInLinks.userId });
  await auditChange(database, creation, { actor: operator, action: 'user.sign_in_link' });
  return `${dashboardUrl}/sign-in#link=${token}`;
}
