import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { auditChange } from '../../../store/accounts/audit/audit.ts';
import { createTotpSecret, findTotpStep, totpUri } from '../../../store/accounts/second-factor/totp.ts';
import type { Database } from '../../../store/db/database.ts';
import { totpSecrets } from '../../../store/db/schema.ts';
import type { Seal } from '../seal.ts';
import { type Enrollee, endOtherSessions, lockEnrollee, removeUselessCodes } from './enrolment.ts';
import { enrolmentTtlMs } from './limits.ts';
import { openSealedState } from './sealed-state.ts';

/** `refused`: the user has an app already, or no password. */
export type TotpOutcome = 'added' | 'wrong_code' | 'expired' | 'refused';

/** @param seals of the proposals, and of the stored secrets. */
export function openTotpEnrolment(database: Database, seals: { proposals: Seal; secrets: Seal }) {
  const proposals = openSealedState(seals.proposals, { shape: z.string(), ttlMs: enrolmentTtlMs });
  return {
    /**
     * A secret that is not stored before a code of it was entered: in base32, for typing; as the `otpauth:`
     * URI for a QR code; and sealed, to be sent back.
     */
    propose({ email, sessionId }: { email: string; sessionId: string }) {
      const secret = createTotpSecret();
      return { secret, uri: totpUri(secret, email), proposal: proposals.seal(secret, sessionId) };
    },
    /** Stores the secret for a right code. `isFirst`: whether it is the user's first second factor. */
    async add(
      user: Enrollee,
      { proposal, code, isFirst }: { proposal: string; code: string; isFirst: boolean },
    ): Promise<TotpOutcome> {
      const secret = proposals.open(proposal, user.sessionId);
      if (secret === undefined) return 'expired';
      const step = findTotpStep(secret, code.replace(/\s/g, ''), Date.now());
      if (step === undefined) return 'wrong_code';
      const sealed = seals.secrets.seal(secret, user.actor.id);
      if (!(await store(database, user, { sealed, step }))) return 'refused';
      if (isFirst) await endOtherSessions(database, user);
      return 'added';
    },
    /** @returns whether there was one. */
    remove: (user: Enrollee) => remove(database, user),
  };
}

async function store(
  database: Database,
  { actor }: Enrollee,
  { sealed, step }: { sealed: Buffer; step: number },
): Promise<boolean> {
  const enrollee = lockEnrollee(database, actor.id);
  const row = database
    .select({
      userId: enrollee.userId,
      secret: sql<Buffer>`${sealed}::bytea`.as(totpSecrets.secret.name),
      // The code that was just entered cannot be used again.
      lastStep: sql<number>`${step}::bigint`.as(totpSecrets.lastStep.name),
      createdAt: sql<Date>`now()`.as(totpSecrets.createdAt.name),
    })
    .from(enrollee);
  const addition = database
    .insert(totpSecrets)
    .select(row)
    .onConflictDoNothing()
    .returning({ userId: totpSecrets.userId });
  const entry = { actor, action: 'totp.add', before: [enrollee] };
  return (await auditChange(database, addition, entry)).length > 0;
}

async function remove(database: Database, user: Enrollee): Promise<boolean> {
  const { actor } = user;
  const removal = database
    .delete(totpSecrets)
    .where(eq(totpSecrets.userId, actor.id))
    .returning({ userId: totpSecrets.userId });
  const removed = await auditChange(database, removal, { actor, action: 'totp.remove' });
  if (removed.length === 0) return false;
  await removeUselessCodes(database, actor.id);
  await endOtherSessions(database, user);
  return true;
}
