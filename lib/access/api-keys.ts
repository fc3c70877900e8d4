import { and, eq, isNull } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { apiKeys, auditLog } from '../db/schema.ts';
import { createApiKey, hashApiKey } from './api-key.ts';

/** What may be shown of an API key. */
export type ApiKeyInfo = Omit<typeof apiKeys.$inferSelect, 'hash'>;

/** Makes an API key for a space. The key itself is returned here and never again. */
export async function issueApiKey(
  database: Database,
  spaceId: string,
  options: { name: string; pepper: string },
): Promise<{ keyId: string; apiKey: string }> {
  const apiKey = createApiKey();
  return database.transaction(async (transaction) => {
    const [row] = await transaction
      .insert(apiKeys)
      .values({
        spaceId,
        name: options.name,
        hash: hashApiKey(apiKey, options.pepper),
        lastFour: apiKey.slice(-4),
      })
      .returning({ keyId: apiKeys.id });
    if (row === undefined) throw new Error('INSERT returned no key');
    await transaction.insert(auditLog).values({
      spaceId,
      actor: 'operator',
      action: 'api_key.create',
      details: { keyId: row.keyId, name: options.name },
    });
    return { keyId: row.keyId, apiKey };
  });
}

/**
 * Revokes an API key: ingest refuses it within a second (a trigger notifies it). Revoking twice changes nothing.
 *
 * @returns undefined when there is no such key.
 */
export async function revokeApiKey(database: Database, keyId: string): Promise<ApiKeyInfo | undefined> {
  await database.transaction(async (transaction) => {
    const [row] = await transaction
      .update(apiKeys)
      .set({ revokedAt: new Date() })
      .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
      .returning({ spaceId: apiKeys.spaceId });
    if (row === undefined) return;
    await transaction
      .insert(auditLog)
      .values({ spaceId: row.spaceId, actor: 'operator', action: 'api_key.revoke', details: { keyId } });
  });
  const [key] = await database.select(shown).from(apiKeys).where(eq(apiKeys.id, keyId));
  return key;
}

export async function listApiKeys(database: Database, spaceId: string): Promise<ApiKeyInfo[]> {
  return database.select(shown).from(apiKeys).where(eq(apiKeys.spaceId, spaceId)).orderBy(apiKeys.id);
}

const shown = {
  id: apiKeys.id,
  spaceId: apiKeys.spaceId,
  name: apiKeys.name,
  lastFour: apiKeys.lastFour,
  createdAt: apiKeys.createdAt,
  expiresAt: apiKeys.expiresAt,
  revokedAt: apiKeys.revokedAt,
  lastUsedAt: apiKeys.lastUsedAt,
};
