import { and, desc, eq, isNull, or } from 'drizzle-orm';
import { hashApiKey } from '../store/accounts/api-key.ts';
import { issueApiKey } from '../store/accounts/api-keys.ts';
import { generatePassword } from '../store/accounts/password.ts';
import { createSignInLink } from '../store/accounts/sign-in-links.ts';
import { createSpace } from '../store/accounts/spaces.ts';
import { createOwner, findUserId } from '../store/accounts/users.ts';
import { openPostgres } from '../store/db/connect.ts';
import { type Database, openDatabase } from '../store/db/database.ts';
import { apiKeys, memberships, spaces, users } from '../store/db/schema.ts';
import { readJson, writePrivateJson } from './data-directory/json-file.ts';
import type { Connection } from './local-system.ts';

/** The credentials with which the first event of a new system can be sent and viewed. */
export type FirstAccess = Pick<Connection, 'spaceId' | 'apiKey' | 'email' | 'password'>;

export interface FirstAccessOptions {
  readonly file: string;
  readonly databaseUrl: string;
  readonly pepper: string;
}

const ownerEmail = 'owner@weir.local';
const noSpace = '00000000-0000-0000-0000-000000000000';

/** These statements change single rows: one that takes longer waits for a lock. */
const statementTimeoutMs = 10_000;

/**
 * Creates the first space, its API key and its owner, and stores them in a file. Later calls reuse what is
 * still valid: the database may be another, or the key revoked.
 */
export async function ensureFirstAccess(options: FirstAccessOptions): Promise<FirstAccess> {
  await using sql = openStartPool(options.databaseUrl);
  const database = openDatabase(sql);
  const kept = readJson<FirstAccess>(options.file);
  const spaceId = await keepSpace(database, kept);
  const access: FirstAccess = {
    spaceId,
    apiKey: await keepApiKey(database, { spaceId, apiKey: kept?.apiKey, pepper: options.pepper }),
    ...(await keepOwner(database, spaceId, kept)),
  };
  writePrivateJson(options.file, access);
  return access;
}

/** Creates a link that signs the owner in once, within 15 minutes. @returns undefined without an owner. */
export async function createOwnerLink({
  databaseUrl,
  dashboardUrl,
  email,
}: Pick<Connection, 'databaseUrl' | 'dashboardUrl' | 'email'>): Promise<string | undefined> {
  await using sql = openStartPool(databaseUrl);
  const database = openDatabase(sql);
  const userId = await findUserId(database, email);
  return userId === undefined ? undefined : await createSignInLink(database, userId, dashboardUrl);
}

function openStartPool(databaseUrl: string) {
  return openPostgres(databaseUrl, { applicationName: 'weir-start', statementTimeoutMs });
}

/** The space of the file, or the owner's first one, which a database restored on a new machine has. */
async function keepSpace(database: Database, kept: Partial<FirstAccess> | undefined): Promise<string> {
  const isKept = eq(spaces.id, kept?.spaceId ?? noSpace);
  const [found] = await database
    .select({ id: spaces.id })
    .from(spaces)
    .leftJoin(memberships, eq(memberships.spaceId, spaces.id))
    .leftJoin(users, eq(users.id, memberships.userId))
    .where(or(isKept, and(eq(users.email, ownerEmail), isNull(spaces.deleteAt))))
    .orderBy(desc(isKept), spaces.createdAt)
    .limit(1);
  return found?.id ?? (await createSpace(database, 'first')).id;
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
  const password = kept?.password ?? generatePassword();
  const found = await database
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, and(eq(memberships.userId, users.id), eq(memberships.spaceId, spaceId)))
    .where(eq(users.email, email));
  if (kept?.password === undefined || found.length === 0)
    await createOwner(database, { email, password, spaceId });
  return { email, password };
}
