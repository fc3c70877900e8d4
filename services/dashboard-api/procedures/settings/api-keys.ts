import { z } from 'zod';
import { instant } from '../../../../platform/instant.ts';
import { hourMs } from '../../../../platform/time.ts';
import {
  issueApiKeyBelow,
  issuedApiKey,
  revokeApiKey,
  rollApiKey,
} from '../../../../store/accounts/api-keys.ts';
import { keyScopes } from '../../../../store/accounts/key-scope.ts';
import { listedApiKey, listKeys } from '../../admin/key-list.ts';
import { apiKeysMax } from '../../limits.ts';
import { refusal } from '../../refusal.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';
import { name } from '../account-inputs.ts';

/** A rolled key's remaining use: default and maximum. */
const keyOverlapHoursDefault = 24;
const keyOverlapHoursMax = 30 * 24;

/** Keys that send events, and read keys. A change is in force within a second. */
export const apiKeys = router({
  /** All keys including revoked and expired ones, oldest first. */
  list: spaceProcedure('admin')
    .output(z.array(listedApiKey))
    .query(({ ctx: { admin } }) => listKeys(admin.database, admin.spaceId)),

  /** Creates a key, with another `scope` than `ingest` a read key. Without `expiresAt` it never expires. */
  create: spaceProcedure('admin', { isConfirmed: true })
    .input(
      z.object({
        name,
        expiresAt: instant.optional(),
        scope: z.enum(keyScopes).default('ingest'),
      }),
    )
    .output(issuedApiKey)
    .mutation(async ({ ctx: { admin, actor }, input: { name, scope, ...input } }) => {
      const expiresAt = input.expiresAt === undefined ? undefined : new Date(input.expiresAt);
      if (expiresAt !== undefined && expiresAt.getTime() <= Date.now()) {
        throw refusal('BAD_REQUEST', 'expiresAt: must be in the future');
      }
      const key = { name, scope, expiresAt, pepper: admin.pepper, actor, keysMax: apiKeysMax };
      const created = await admin.inTurn(() => issueApiKeyBelow(admin.database, admin.spaceId, key));
      if (created !== undefined) return created;
      throw refusal('TOO_MANY_REQUESTS', 'The space has too many API keys. Revoke some first.');
    }),

  /**
   * Replaces a key, once, by one with its name, scope and lifetime. The old one expires after `overlapHours`.
   */
  roll: spaceProcedure('admin', { isConfirmed: true })
    .input(
      z.object({
        keyId: z.guid(),
        overlapHours: z.number().min(0).max(keyOverlapHoursMax).default(keyOverlapHoursDefault),
      }),
    )
    .output(issuedApiKey)
    .mutation(async ({ ctx: { admin, actor }, input: { keyId, overlapHours } }) => {
      const key = { keyId, overlapMs: overlapHours * hourMs, pepper: admin.pepper, actor };
      const rolled = await rollApiKey(admin.database, admin.spaceId, key);
      if (rolled !== undefined) return rolled;
      throw refusal('NOT_FOUND', 'There is no such active key, or it was rolled before.');
    }),

  /** Revoking twice changes nothing. */
  revoke: spaceProcedure('admin')
    .input(z.object({ keyId: z.guid() }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input }) => {
      const { database, spaceId } = admin;
      if ((await revokeApiKey(database, input.keyId, { spaceId, actor })) !== undefined) return;
      throw refusal('NOT_FOUND', 'There is no such key.');
    }),
});
