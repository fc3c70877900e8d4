import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { openLimiter } from '../../../platform/limiter.ts';
import { auditChange } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { passkeys } from '../../../store/db/schema.ts';
import type { Seal } from '../seal.ts';
import { type Enrollee, endOtherSessions, lockEnrollee, removeUselessCodes } from './enrolment.ts';
import { enrolmentTtlMs, passkeysMax, passkeyTimeoutMs } from './limits.ts';
import { type PasskeyAttestation, type PasskeyCreation, passkeyCreation } from './passkey-answer.ts';
import type { PasskeySite } from './passkey-site.ts';
import { createChallenge, loadWebAuthn, userHandleOf } from './passkeys.ts';
import { openSealedState } from './sealed-state.ts';

/** `invalid`: wrong or late. `refused`: registered already, too many, or a user without a password. */
export type PasskeyOutcome = 'added' | 'invalid' | 'refused';

/**
 * EdDSA, ES256, RS256: all authenticators have one. Node supports the default's ML-DSA only experimentally.
 */
const supportedAlgorithmIDs = [-8, -7, -257];

/** Formats without certificates, whose revocation lists the library would fetch from their addresses. */
const formats = ['none', 'packed'];

export function openPasskeyEnrolment(database: Database, seal: Seal) {
  const challenges = openSealedState(seal, { shape: z.string(), ttlMs: enrolmentTtlMs });
  // Statements at the same time would not count each other's passkeys.
  const inTurn = openLimiter(1);
  return {
    /** @returns options for the browser, and the sealed challenge to send back. */
    async propose(
      site: PasskeySite,
      user: { userId: string; email: string; sessionId: string },
    ): Promise<{ creation: PasskeyCreation; proposal: string }> {
      const challenge = createChallenge();
      const creation = await describeCreation(database, site, { ...user, challenge });
      return { creation, proposal: challenges.seal(challenge, user.sessionId) };
    },
    /** `isFirst`: whether it is the user's first second factor. */
    async add(
      site: PasskeySite,
      user: Enrollee,
      {
        proposal,
        name,
        answer,
        isFirst,
      }: { proposal: string; name: string; answer: PasskeyAttestation; isFirst: boolean },
    ): Promise<PasskeyOutcome> {
      const challenge = challenges.open(proposal, user.sessionId);
      if (challenge === undefined) return 'invalid';
      const library = await loadVerifier();
      const created = await verifyAttestation(library, site, { challenge, answer }).catch(() => undefined);
      if (created === undefined) return 'invalid';
      const { id, publicKey, counter } = created;
      const credential = {
        id: Buffer.from(id, 'base64url'),
        publicKey: Buffer.from(publicKey),
        counter,
        name,
      };
      if (!(await inTurn(() => store(database, user, credential)))) return 'refused';
      if (isFirst) await endOtherSessions(database, user);
      return 'added';
    },
    /** @returns whether the user had the passkey. */
    remove: (user: Enrollee, id: string) => remove(database, user, id),
  };
}

async function describeCreation(
  database: Database,
  { rpId }: PasskeySite,
  { userId, email, challenge }: { userId: string; email: string; challenge: string },
): Promise<PasskeyCreation> {
  const own = await database
    .select({ id: passkeys.credentialId })
    .from(passkeys)
    .where(eq(passkeys.userId, userId));
  const { generateRegistrationOptions } = await loadWebAuthn();
  const options = await generateRegistrationOptions({
    rpName: 'Weir',
    rpID: rpId,
    userName: email,
    userDisplayName: email,
    userID: Uint8Array.from(Buffer.from(userHandleOf(userId), 'base64url')),
    challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
    timeout: passkeyTimeoutMs,
    attestationType: 'none',
    supportedAlgorithmIDs,
    excludeCredentials: own.map(({ id }) => ({ id: id.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return passkeyCreation.parse(options);
}

async function loadVerifier() {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  return { verifyRegistrationResponse, decodeAttestationObject };
}

/** @throws Error at a wrong challenge, origin or site, and at malformed bytes. */
async function verifyAttestation(
  { verifyRegistrationResponse, decodeAttestationObject }: Awaited<ReturnType<typeof loadVerifier>>,
  { origin, rpId }: PasskeySite,
  { challenge, answer }: { challenge: string; answer: PasskeyAttestation },
) {
  const attestation = Buffer.from(answer.response.attestationObject, 'base64url');
  if (!formats.includes(decodeAttestationObject(Uint8Array.from(attestation)).get('fmt'))) return undefined;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: { ...answer, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs,
  });
  return registrationInfo?.credential;
}

async function store(
  database: Database,
  { actor }: Enrollee,
  { id, publicKey, counter, name }: { id: Buffer; publicKey: Buffer; counter: number; name: string },
): Promise<boolean> {
  const own = database.select({ count: sql`count(*)` }).from(passkeys).where(eq(passkeys.userId, actor.id));
  const enrollee = lockEnrollee(database, actor.id, sql`${own} < ${passkeysMax}::bigint`);
  const row = database
    .select({
      id: sql<string>`uuidv7()`.as(passkeys.id.name),
      userId: enrollee.userId,
      credentialId: sql<Buffer>`${id}::bytea`.as(passkeys.credentialId.name),
      publicKey: sql<Buffer>`${publicKey}::bytea`.as(passkeys.publicKey.name),
      counter: sql<number>`${counter}::bigint`.as(passkeys.counter.name),
      name: sql<string>`${name}::text`.as(passkeys.name.name),
      createdAt: sql<Date>`now()`.as(passkeys.createdAt.name),
      lastUsedAt: sql<Date | null>`NULL::timestamptz`.as(passkeys.lastUsedAt.name),
    })
    .from(enrollee);
  const addition = database
    .insert(passkeys)
    .select(row)
    .onConflictDoNothing()
    .returning({ id: passkeys.id, userId: passkeys.userId });
  const entry = { actor, action: 'passkey.add', details: { name }, before: [enrollee] };
  return (await auditChange(database, addition, entry)).length > 0;
}

async function remove(database: Database, user: Enrollee, id: string): Promise<boolean> {
  const { actor } = user;
  const removal = database
    .delete(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, actor.id)))
    .returning({ id: passkeys.id, userId: passkeys.userId });
  const removed = await auditChange(database, removal, { actor, action: 'passkey.remove' });
  if (removed.length === 0) return false;
  await removeUselessCodes(database, actor.id);
  await endOtherSessions(database, user);
  return true;
}
