import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm';
import { openLimiter } from '../../../platform/limiter.ts';
import { hashApiKey, isCallerKey } from '../../../store/accounts/api-key.ts';
import { operator } from '../../../store/accounts/audit/audit.ts';
import {
  isReadScope,
  type KeyScope,
  type ReadScope,
  roleOfAnnotation,
  roleOfScope,
} from '../../../store/accounts/key-scope.ts';
import type { Database } from '../../../store/db/database.ts';
import { apiKeys, spaces } from '../../../store/db/schema.ts';
import { noteUse } from './find-session.ts';
import {
  knownReadKeysMax,
  sessionUseMs,
  unknownReadKeyLookupsMax,
  unknownReadKeyMs,
  unknownReadKeysMax,
} from './limits.ts';
import type { SpaceUser } from './session.ts';

/** A user of one space, with a scope. Without a session no grant holds for a read key. */
export interface ReadKeyUser extends SpaceUser {
  readonly scope: ReadScope;
}

/** A key that adds notes to its space. It must not be taken for a caller that reads: see requireCaller. */
export interface AnnotationKeyUser extends SpaceUser {
  readonly scope: 'annotation';
}

/** Looks up the keys of the dashboard API. */
export interface ReadKeys {
  /** @returns undefined for a key that is unknown, revoked or expired, or whose space is deleted. */
  find(key: string): Promise<ReadKeyUser | AnnotationKeyUser | undefined>;
}

/**
 * Each use reads the key's state: a revoked or expired one is refused at once. The look-up is by HMAC, so its
 * time says nothing about other keys. Anybody can invent keys: unknown ones are remembered for a moment, and
 * look-ups of those never valid here wait for each other.
 */
export function openReadKeys(database: Database, pepper: string): ReadKeys {
  const statement = prepareFind(database);
  /** By the hash in hex: the `performance.now()` until which a key is refused without a query. */
  const unknown = new Map<string, number>();
  const known = new Set<string>();
  const inTurn = openLimiter(unknownReadKeyLookupsMax);
  return {
    async find(key) {
      if (!isCallerKey(key)) return undefined;
      const hash = hashApiKey(key, pepper);
      const id = hash.toString('hex');
      const isRefused = () => (unknown.get(id) ?? 0) > performance.now();
      if (isRefused()) return undefined;
      const query = () => statement.execute({ hash });
      const [row] = known.has(id) ? await query() : await inTurn(async () => (isRefused() ? [] : query()));
      if (row === undefined || row.scope === 'ingest') {
        known.delete(id);
        const [oldest] = unknown.keys();
        if (unknown.size >= unknownReadKeysMax && oldest !== undefined) unknown.delete(oldest);
        unknown.set(id, performance.now() + unknownReadKeyMs);
        return undefined;
      }
      if (known.size >= knownReadKeysMax) known.clear();
      known.add(id);
      if (row.isUseOld) await noteUse(database, apiKeys, row.keyId);
      return toUser({ ...row, scope: row.scope });
    },
  };
}

function prepareFind(database: Database) {
  const since = sql.raw(String(sessionUseMs));
  return database
    .select({
      keyId: apiKeys.id,
      createdBy: apiKeys.createdBy,
      scope: apiKeys.scope,
      spaceId: spaces.id,
      name: spaces.name,
      isUseOld: sql<boolean>`${or(
        isNull(apiKeys.lastUsedAt),
        lt(apiKeys.lastUsedAt, sql`now() - ${since} * interval '1 millisecond'`),
      )}`,
    })
    .from(apiKeys)
    .innerJoin(spaces, eq(spaces.id, apiKeys.spaceId))
    .where(
      and(
        eq(apiKeys.hash, sql.placeholder('hash')),
        isNull(apiKeys.revokedAt),
        isNull(spaces.deleteAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
      ),
    )
    .prepare('read_key');
}

type ReadKeyRow = Awaited<ReturnType<ReturnType<typeof prepareFind>['execute']>>[number];

function toUser(row: ReadKeyRow & { scope: Exclude<KeyScope, 'ingest'> }): ReadKeyUser | AnnotationKeyUser {
  const { keyId, createdBy, scope, spaceId, name } = row;
  const role = isReadScope(scope) ? roleOfScope[scope] : roleOfAnnotation;
  return {
    userId: keyId,
    sessionId: keyId,
    // The operator's keys belong to nobody with other spaces.
    holderId: createdBy === operator.id ? spaceId : createdBy,
    currentSpaceId: spaceId,
    spaces: [{ id: spaceId, name, role, deleteAt: null }],
    scope,
  };
}
