import { randomBytes } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import { hashApiKey } from '../../lib/access/api-key.ts';
import { issueApiKey } from '../../lib/access/api-keys.ts';
import { createSpace } from '../../lib/access/spaces.ts';
import { createOwner } from '../../lib/access/users.ts';
import type { Connection } from '../../lib/connection.ts';
import { openPostgres } from '../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../lib/db/database.ts';
import { apiKeys, memberships, spaces, users } from '../../lib/db/schema.ts';
import { readJson, writePrivateJson } from './json-file.ts';

/** What a fresh system needs so that the first event can be sent and seen. */
export type FirstAccess = Pick<Connection, 'spaceId' | 'apiKey' | 'email' | 'password'>;

const ownerEmail = 'owner@weir.local';

const statementTimeoutMs = 10_000;

/**
 * Makes the first space, its API key and its owner, and keeps them in a file. What the file names and the database still
 * has is used again; what is gone, e.g. because the database is another one or the key was revoked, is made anew.
 */
export async function ensureFirstAccess(options: {
  file: string;
  databaseUrl: string;
  pepper: string;
}): Promise<FirstAccess> {
  await using sql = openPostgres(options.databaseUrl, {
    applicationName: 'weir-start',
    connectionsMax: 1,
    statementTimeoutMs,
  });
  const database = openDatabase(sql);
  const kept = readJson<FirstAccess>(options.file);
  const spaceId = await keepSpace(database, kept?.spaceId);
  const access: FirstAccess = {
    spaceId,
    apiKey: await keepApiKey(database, { spaceId, apiKey: kept?.apiKey, pepper: options.pepper }),
    ...(await keepOwner(database, spaceId, kept)),
  };
  writePrivateJson(options.file, access);
  return access;
}

async function keepSpace(database: Database, spaceId: string | undefined): Promise<string> {
  if (spaceId !== undefined) {
    const found = await database.select({ id: spaces.id }).from(spaces).where(eq(spaces.id, spaceId));
    if (found.length > 0) return spaceId;
  }
  return (await createSpace(database, 'first')).id;
}

async function keepApiKey(
  database: Database,
  { spaceId, apiKey, pepper }: { spaceId: string; apiKey: string | undefined; pepper: string },
): Promise<string> {
  if (apiKey !== undefined) {
    const usable = and(
      eq(apiKeys.hash, hashApiKey(apiKey, pepper)),
      eq(apiKeys.spaceId, spaceId),
      isNull(apiKeys.revokedAt),
    );
    if ((await database.select({ id: apiKeys.id }).from(apiKeys).where(usable)).length > 0) return apiKey;
  }
  return (await issueApiKey(database, spaceId, { name: 'first', pepper })).apiKey;
}

async function keepOwner(
  database: Database,
  spaceId: string,
  kept: Partial<FirstAccess> | undefined,
): Promise<Pick<FirstAccess, 'email' | 'password'>> {
  const email = kept?.email ?? ownerEmail;
  const password = kept?.password ?? randomBytes(12).toString('base64url');
  const found = await database
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, and(eq(memberships.userId, users.id), eq(memberships.spaceId, spaceId)))
    .where(eq(users.email, email));
  if (kept?.password === undefined || found.length === 0)
    await createOwner(database, { email, password, spaceId });
  return { email, password };
}
