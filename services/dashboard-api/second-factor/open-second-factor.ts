import { count, eq } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { isoTimes } from '../../../platform/time.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../../../store/db/schema.ts';
import { openSeal } from '../seal.ts';
import { openCodes } from './codes.ts';
import { renewRecoveryCodes } from './enrolment.ts';
import { openPasskeyEnrolment } from './passkey-enrolment.ts';
import { openPasskeys } from './passkeys.ts';
import { openTotpEnrolment } from './totp-enrolment.ts';

export type SecondFactor = ReturnType<typeof openSecondFactor>;

export function openSecondFactor(database: Database, pepper: string) {
  const secrets = openSeal(pepper, 'totp secret');
  return {
    useCode: openCodes(database, secrets),
    passkeys: openPasskeys(database, openSeal(pepper, 'passkey challenge')),
    list: (userId: string) => listFactors(database, userId),
    totpEnrolment: openTotpEnrolment(database, { proposals: openSeal(pepper, 'totp proposal'), secrets }),
    passkeyEnrolment: openPasskeyEnrolment(database, openSeal(pepper, 'passkey proposal')),
    /** @returns undefined when the user has no second factor. */
    renewRecoveryCodes: (actor: Actor) => renewRecoveryCodes(database, actor),
  };
}

/** The second factors of a user, as shown to the user. Times are ISO 8601. */
export const listedFactors = z
  .object({
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

async function listFactors(database: Database, userId: string): Promise<ListedFactors> {
  const [totp, keys, codes] = await Promise.all([
    database
      .select({ createdAt: totpSecrets.createdAt })
      .from(totpSecrets)
      .where(eq(totpSecrets.userId, userId)),
    database
      .select(pick(passkeys, 'id', 'name', 'createdAt', 'lastUsedAt'))
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
