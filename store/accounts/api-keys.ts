import { and, eq, gt, isNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../platform/pick.ts';
import type { Database } from '../db/database.ts';
import { apiKeys } from '../db/schema.ts';
import { insertBelow, nameOf, namesOf } from '../db/statement.ts';
import { createApiKey, hashApiKey } from './api-key.ts';
import { type Actor, auditChange, operator, runAudited } from './audit/audit.ts';
import type { KeyScope } from './key-scope.ts';

export type ApiKeyInfo = Omit<typeof apiKeys.$inferSelect, 'hash'>;

export const issuedApiKey = z
  .object({
    keyId: z.guid(),
    /** The key itself, which is only returned here: the database holds its hash. */
    apiKey: z.string(),
  })
  .meta({ id: 'IssuedApiKey' });
type IssuedApiKey = z.infer<typeof issuedApiKey>;

export interface NewApiKey {
  name: string;
  pepper: string;
  expiresAt?: Date | undefined;
  scope?: KeyScope;
  actor?: Actor;
}

/** A key that sends events, unless `scope` says otherwise. Without `expiresAt` it never expires. */
export async function issueApiKey(
  database: Database,
  spaceId: string,
  key: NewApiKey,
): Promise<IssuedApiKey> {
  const issued = await issueApiKeyBelow(database, spaceId, { ...key, keysMax: Number.MAX_SAFE_INTEGER });
  if (issued === undefined) throw new Error('INSERT returned no key');
  return issued;
}

/** @returns undefined when the space has `keysMax` keys that are neither revoked nor expired. */
export async function issueApiKeyBelow(
  database: Database,
  spaceId: string,
  options: NewApiKey & { keysMax: number },
): Promise<IssuedApiKey | undefined> {
  const { name, pepper, expiresAt, scope = 'ingest', actor = operator, keysMax } = options;
  const apiKey = createApiKey(scope);
  const hash = hashApiKey(apiKey, pepper);
  const values = { spaceId, name, hash, lastFour: apiKey.slice(-4), expiresAt, scope, createdBy: actor.id };
  const counted = sql`SELECT count(*) FROM ${apiKeys} WHERE ${and(eq(apiKeys.spaceId, spaceId), isInForce)}`;
  const created = database.$with('created', { id: apiKeys.id, spaceId: apiKeys.spaceId }).as(sql`
    ${insertBelow(apiKeys, values, { counted, max: keysMax })}
    RETURNING ${namesOf([apiKeys.id, apiKeys.spaceId])}`);
  const [row] = await runAudited(database, created, {
    spaceId: created.spaceId,
    actor,
    action: 'api_key.create',
    target: created.id,
    details: {
      name,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(scope !== 'ingest' && { scope }),
    },
  });
  return row && { keyId: row.id, apiKey };
}

/**
 * Creates a key that replaces another one, with its name, scope and lifetime. The old one expires after
 * `overlapMs` at the latest. Of two concurrent calls, one succeeds.
 * @returns undefined when the space has no such valid key, or it was rolled before.
 */
export async function rollApiKey(
  database: Database,
  spaceId: string,
  options: { keyId: string; overlapMs: number; pepper: string; actor: Actor },
): Promise<IssuedApiKey | undefined> {
  const { keyId, overlapMs, pepper, actor } = options;
  const isOwn = and(eq(apiKeys.id, keyId), eq(apiKeys.spaceId, spaceId));
  // The scope of a key never changes, so it can be read before the statement.
  const [old] = await database.select({ scope: apiKeys.scope }).from(apiKeys).where(isOwn);
  if (old === undefined) return undefined;
  const apiKey = createApiKey(old.scope);
  const { name, hash, lastFour, createdBy, replaces, scope } = apiKeys;
  const lifetime = sql`${apiKeys.expiresAt} - ${apiKeys.createdAt}`;
  const created = database.$with('created', { id: apiKeys.id, spaceId: apiKeys.spaceId }).as(sql`
    INSERT INTO ${apiKeys} (${namesOf([apiKeys.spaceId, name, hash, lastFour, createdBy, replaces, scope, apiKeys.expiresAt])})
    SELECT ${apiKeys.spaceId}, ${name}, ${hashApiKey(apiKey, pepper)}::bytea, ${apiKey.slice(-4)}::text,
      ${actor.id}::text, ${apiKeys.id}, ${scope}, now() + (${lifetime})
    FROM ${apiKeys} WHERE ${and(isOwn, isInForce)}
    ON CONFLICT (${nameOf(replaces)}) DO NOTHING
    RETURNING ${namesOf([apiKeys.id, apiKeys.spaceId])}`);
  const expiresAt = sql`least(${apiKeys.expiresAt}, now() + ${overlapMs}::float8 * interval '1 millisecond')`;
  const ending = database
    .$with('ending')
    .as(
      database
        .update(apiKeys)
        .set({ expiresAt })
        .from(created)
        .where(eq(apiKeys.id, keyId))
        .returning({ id: apiKeys.id }),
    );
  const entry = {
    spaceId: created.spaceId,
    actor,
    action: 'api_key.roll',
    target: keyId,
    details: { overlapMs },
    after: [ending],
  };
  const [row] = await runAudited(database, created, entry);
  return row && { keyId: row.id, apiKey };
}

/**
 * A trigger notifies ingest, which rejects the key within a second; a read key's state is read at each use.
 * Revoking twice changes nothing.
 * @param options `spaceId`: only a key of this space. @returns undefined when the key does not exist.
 */
export async function revokeApiKey(
  database: Database,
  keyId: string,
  { spaceId, actor = operator }: { spaceId?: string; actor?: Actor } = {},
): Promise<ApiKeyInfo | undefined> {
  const isKey = and(eq(apiKeys.id, keyId), spaceId === undefined ? undefined : eq(apiKeys.spaceId, spaceId));
  const revocation = database
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(isKey, isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id, spaceId: apiKeys.spaceId });
  await auditChange(database, revocation, { actor, action: 'api_key.revoke' });
  const [key] = await database.select(shown).from(apiKeys).where(isKey);
  return key;
}

/** The oldest first. */
export async function listApiKeys(database: Database, spaceId: string): Promise<ApiKeyInfo[]> {
  return database.select(shown).from(apiKeys).where(eq(apiKeys.spaceId, spaceId)).orderBy(apiKeys.id);
}

const isInForce = and(
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
);

const shown = {
  ...pick(apiKeys, 'id', 'spaceId', 'name', 'lastFour', 'createdAt', 'createdBy', 'expiresAt', 'revokedAt'),
  ...pick(apiKeys, 'lastUsedAt', 'replaces', 'scope'),
};
