import type { Actor } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { openSeal } from '../seal.ts';
import { openCodes, type UseCode } from './codes.ts';
import { renewRecoveryCodes } from './enrolment.ts';
import { type ListedFactors, listFactors } from './factor-list.ts';
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
