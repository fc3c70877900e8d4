import { and, asc, eq, gte } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../../platform/pick.ts';
import { dayMs, isoTimes } from '../../../platform/time.ts';
import { prefixOfScope } from '../../../store/accounts/api-key.ts';
import { userIdOf } from '../../../store/accounts/audit/audit.ts';
import { keyScopes } from '../../../store/accounts/key-scope.ts';
import { dayOf } from '../../../store/accounts/month.ts';
import type { Database } from '../../../store/db/database.ts';
import { nullIfNodeFailed } from '../../../store/db/layout/node-failure.ts';
import { apiKeys, usageDays, users } from '../../../store/db/schema.ts';

const apiKeyDaysShown = 30;

/** An API key as shown to the space's admins. Times are ISO 8601. */
export const listedApiKey = z
  .object({
    id: z.guid(),
    name: z.string(),
    /** The first and last characters of the key. */
    prefix: z.string(),
    lastFour: z.string(),
    /** An e-mail address; null for the operator, or when the user was deleted. */
    createdBy: z.string().nullable(),
    createdAt: z.iso.datetime(),
    /** Updated at most once a minute. */
    lastUsedAt: z.iso.datetime().nullable(),
    expiresAt: z.iso.datetime().nullable(),
    revokedAt: z.iso.datetime().nullable(),
    state: z.enum(['active', 'expired', 'revoked']),
    /** The key that this one replaced, and the one that replaced it (`apiKeys.roll`). */
    replaces: z.guid().nullable(),
    replacedBy: z.guid().nullable(),
    /** `ingest` sends events; the others read the space (docs/dashboard.md, Read keys). */
    scope: z.enum(keyScopes),
    /** Stored events by UTC day of receipt, for 30 days. Null while the space's database node is away. */
    days: z.array(z.object({ day: z.iso.date(), events: z.number() })).nullable(),
  })
  .meta({ id: 'ListedApiKey' });
export type ListedApiKey = z.infer<typeof listedApiKey>;

/** A space's API keys including revoked and expired ones, oldest first. */
export async function listKeys(database: Database, spaceId: string): Promise<ListedApiKey[]> {
  const now = Date.now();
  const [keys, days] = await Promise.all([
    database
      .select({
        ...pick(apiKeys, 'id', 'name', 'lastFour'),
        createdBy: users.email,
        ...pick(apiKeys, 'createdAt', 'lastUsedAt', 'expiresAt', 'revokedAt', 'replaces', 'scope'),
      })
      .from(apiKeys)
      .leftJoin(users, eq(users.id, userIdOf(apiKeys.createdBy)))
      .where(eq(apiKeys.spaceId, spaceId))
      .orderBy(asc(apiKeys.id)),
    database
      .select({ keyId: usageDays.apiKeyId, day: usageDays.day, events: usageDays.events })
      .from(usageDays)
      .where(
        and(eq(usageDays.spaceId, spaceId), gte(usageDays.day, dayOf(now - (apiKeyDaysShown - 1) * dayMs))),
      )
      .orderBy(asc(usageDays.day))
      .catch(nullIfNodeFailed),
  ]);
  const daysByKey = days && Map.groupBy(days, ({ keyId }) => keyId);
  const successors = new Map(keys.flatMap(({ id, replaces }) => (replaces === null ? [] : [[replaces, id]])));
  return keys.map((key) => ({
    ...isoTimes(key),
    prefix: prefixOfScope(key.scope),
    state:
      key.revokedAt !== null
        ? 'revoked'
        : (key.expiresAt?.getTime() ?? Infinity) <= now
          ? 'expired'
          : 'active',
    replacedBy: successors.get(key.id) ?? null,
    days: daysByKey && (daysByKey.get(key.id) ?? []).map(({ day, events }) => ({ day, events })),
  }));
}
