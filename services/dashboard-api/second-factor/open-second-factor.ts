import { count, eq } from 'drizzle-orm';
import { z } from 'zod';
import { isoTimes } from '../../../platform/time.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../../store/db/schema.ts';
import { openSeal } from '../seal.ts';
import { openCodes, type UseCode } from './codes.ts';
import { renewRecoveryCodes } from './enrolment.ts';
import { openPasskeyEnrolment, type PasskeyEnrolment } from './passkey-enrolment.ts';
import { openPasskeys, type Passkeys } from './passkeys.ts';
import { openTotpEnrolment, type TotpEnrolment } from './totp-enrolment.ts';

/** The second factors of users. */
export interface SecondFactor {
  /** Accepts a code of an app, or a recovery code, once. */
  useCode: UseCode;
  passkeys: Passkeys;
  list(userId: string): Promise<ListedFactors>;
  totpEnrolment: TotpEnrolment;
  passkeyEnrolment: PasskeyEnrolment;
  /** Replaces the recovery codes. @returns undefined when the user has no second factor. */
  renewRecoveryCodes(actor: Actor): Promise<string[] | undefined>;
}

export function openSecondFactor(database: Database, pepper: string): SecondFactor {
  const now = () => Date.now();
  const secrets = openSeal(pepper, 'totp secret');
  return {
    useCode: openCodes(database, secrets),
    passkeys: openPasskeys(database, openSeal(pepper, 'passkey challenge'), now),
    list: (userId) => listFactors(database, userId),
    totpEnrolment: openTotpEnrolment(
      database,
      { proposals: openSeal(pepper, 'totp proposal'), secrets },
      now,
    ),
    passkeyEnrolment: openPasskeyEnrolment(database, openSeal(pepper, 'passkey proposal'), now),
    renewRecoveryCodes: (actor) => renewRecoveryCodes(database, actor),
  };
}

/** The second factors of a user, as shown to the user. Times are ISO 8601. */
export const listedFactors = z
  .object({
    /** The authenticator app. */
    totp: z.object({ createdAt: z.iso.datetime() }).nullable(),
    passkeys: z.array(
      z.object({
        id: z.guid(),
        name: z.string(),
        createdAt: z.iso.datetime(),
        lastUsedAt: z.iso.datetime().nullable(),
      }),
    ),
    recoveryCodesLeft: z.number(),
  })
  .meta({ id: 'ListedFactors' });
export type ListedFactors = z.infer<typeof listedFactors>;

export async function listFactors(database: Database, userId: string): Promise<ListedFactors> {
  const [totp, keys, codes] = await Promise.all([
    database
      .select({ createdAt: totpSecrets.createdAt })
      .from(totpSecrets)
      .where(eq(totpSecrets.userId, userId)),
    database
      .select({
        id: passkeys.id,
        name: passkeys.name,
        createdAt: passkeys.createdAt,
        lastUsedAt: passkeys.lastUsedAt,
      })
      .from(passkeys)
      .where(eq(passkeys.userId, userId))
      .orderBy(passkeys.id),
    database.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.userId, userId)),
  ]);
  return {
    totp: totp[0] === undefined ? null : isoTimes(totp[0]),
    passkeys: keys.map(isoTimes),
    recoveryCodesLeft: codes[0]?.left ?? 0,
  };
}
