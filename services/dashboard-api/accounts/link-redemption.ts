import { and, eq, gt, sql } from 'drizzle-orm';
import { hashToken, isToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { signInLinks } from '../../../store/db/schema.ts';
import type { FirstStep, SecondStep } from './second-step.ts';
import type { SessionClient } from './session.ts';

/** Signs in with the token of a sign-in link and deletes the link. @returns undefined when the link is not valid. */
export type RedeemLink = (token: string, client: SessionClient) => Promise<FirstStep | undefined>;

export function openLinkRedemption(database: Database, secondStep: SecondStep): RedeemLink {
  return async (token, client) => {
    if (!isToken(token)) return undefined;
    // Of concurrent calls only one deletes the row and gets it back.
    const [link] = await database
      .delete(signInLinks)
      .where(and(eq(signInLinks.tokenHash, hashToken(token)), gt(signInLinks.expiresAt, sql`now()`)))
      .returning({ userId: signInLinks.userId });
    return link && secondStep.start({ id: link.userId }, client, 'link');
  };
}
