import { randomBytes } from 'node:crypto';
import { eq, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { passkeys, usedChallenges } from '../../../store/db/schema.ts';
import { namesOf } from '../../../store/db/statement.ts';
import type { Seal } from '../seal.ts';
import { passkeyTimeoutMs, secondStepTtlMs, usedChallengeTtlMs } from './limits.ts';
import type { PasskeyAssertion, PasskeyRequest } from './passkey-answer.ts';
import type { PasskeySite } from './passkey-site.ts';
import { openSealedState } from './sealed-state.ts';

/** The library, loaded with the first passkey: a tenth of a start's CPU time, and few use passkeys. */
export const loadWebAuthn = () => import('@simplewebauthn/server');

const challengeBytes = 32;

/** A new challenge, as base64url. */
export function createChallenge(): string {
  return randomBytes(challengeBytes).toString('base64url');
}

/** The user id that an authenticator keeps with a passkey, as base64url. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString('base64url');
}

/** The authenticator verifies its user (PIN, fingerprint), so a passkey is two factors in one. */
export function openPasskeys(database: Database, seal: Seal) {
  const challenges = openSealedState(seal, { shape: z.string(), ttlMs: secondStepTtlMs });
  return {
    /** A question for any passkey of the site, and the sealed challenge that is sent back with the answer. */
    ask({ rpId }: PasskeySite): { request: PasskeyRequest; proposal: string } {
      const challenge = createChallenge();
      return {
        request: { challenge, rpId, timeout: passkeyTimeoutMs, userVerification: 'required' },
        proposal: challenges.seal(challenge, rpId),
      };
    },
    /** Accepts a challenge once. @returns undefined when the answer is wrong, late or was used. */
    async verify(site: PasskeySite, proposal: string, answer: PasskeyAssertion): Promise<string | undefined> {
      const challenge = challenges.open(proposal, site.rpId);
      if (challenge === undefined) return undefined;
      return verifyAnswer(database, site, { challenge, answer });
    },
  };
}

async function verifyAnswer(
  database: Database,
  { origin, rpId }: PasskeySite,
  { challenge, answer }: { challenge: string; answer: PasskeyAssertion },
): Promise<string | undefined> {
  const [passkey] = await database
    .select()
    .from(passkeys)
    .where(eq(passkeys.credentialId, Buffer.from(answer.id, 'base64url')));
  if (passkey === undefined) return undefined;
  const { userHandle, ...response } = answer.response;
  if (userHandle !== undefined && userHandle !== userHandleOf(passkey.userId)) return undefined;
  const credential = {
    id: answer.id,
    publicKey: Uint8Array.from(passkey.publicKey),
    counter: passkey.counter,
  };
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const verified = await verifyAuthenticationResponse({
    response: { ...answer, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    credential,
    // Throws at a wrong challenge, origin, site or counter, and at malformed bytes.
  }).catch(() => undefined);
  if (verified?.verified !== true) return undefined;
  const use = { id: passkey.id, challenge, counter: verified.authenticationInfo.newCounter };
  return (await noteUse(database, use)) ? passkey.userId : undefined;
}

/** @returns false when the challenge was used before, or the passkey removed meanwhile. */
async function noteUse(
  database: Database,
  { id, challenge, counter }: { id: string; challenge: string; counter: number },
): Promise<boolean> {
  await database.delete(usedChallenges).where(lt(usedChallenges.expiresAt, sql`now()`));
  const rows = await database.execute(sql`
    WITH used AS (
      INSERT INTO ${usedChallenges} (${namesOf([usedChallenges.challenge, usedChallenges.expiresAt])})
      VALUES (${Buffer.from(challenge, 'base64url')}, now() + ${usedChallengeTtlMs}::float8 * interval '1 millisecond')
      ON CONFLICT DO NOTHING RETURNING 1
    )
    UPDATE ${passkeys} SET (${namesOf([passkeys.counter, passkeys.lastUsedAt])}) = (${counter}::bigint, now())
    WHERE ${eq(passkeys.id, id)} AND EXISTS (SELECT FROM used) RETURNING 1`);
  return rows.length > 0;
}
