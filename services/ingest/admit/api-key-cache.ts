import { and, eq, isNull, sql } from 'drizzle-orm';
import { IngestError } from '../../../event/errors.ts';
import { openLimiter } from '../../../platform/limiter.ts';
import { TimeoutError, withTimeout } from '../../../platform/timeout.ts';
import { hashApiKey, isApiKey } from '../../../store/accounts/api-key.ts';
import type { Database } from '../../../store/db/database.ts';
import { apiKeys, spaces } from '../../../store/db/schema.ts';
import { keyLookupTimeoutMs } from '../limits.ts';

/** Most concurrent look-ups of unknown API keys, of four connections to Postgres. */
const unknownKeyLookupsMax = 2;

/** API keys whose hashes (15 MB) the first look-up reads, so that valid keys do not wait behind others. */
const knownKeysMax = 100_000;

/** Most invalid API keys that are cached; the oldest is evicted first. */
const unknownKeysMax = 10_000;

/** How long an invalid API key is cached. Short, because a client drops its data on a 401. */
const unknownKeyCacheMs = 2_000;

/** How long a valid API key is cached. A change in the database invalidates it at once. */
export const keyCacheMs = 30_000;

/** The authenticated API key, its space, and the state that decides whether the space accepts events. */
export interface Principal {
  readonly keyId: string;
  readonly spaceId: string;
  readonly billingState: 'active' | 'inactive';
  /** Events a month; null is unlimited. */
  readonly monthlyEventLimit: number | null;
}

interface CachedKey {
  readonly principal: Principal;
  /** Hex. */
  readonly hash: string;
  readonly expiresAtMs: number;
  /** `performance.now()` from which Postgres is queried again. */
  freshUntilMs: number;
}

/**
 * Looks up API keys in Postgres and caches the results (docs/api.md §5): valid keys for 30 s, and for as long
 * as Postgres is unreachable; invalid ones for 2 s. `invalidate` drops changed ones at once.
 */
export class ApiKeyCache {
  readonly #pepper: string;
  readonly #database: Database;
  readonly #statement: LookupStatement;
  /** The hashes of the keys that existed at the first look-up; undefined until they are read. */
  #known: Promise<ReadonlySet<string>> | undefined;
  readonly #cached = new Map<string, CachedKey>();
  /** Invalid keys, with the `performance.now()` until which they are rejected without a query. */
  readonly #invalid = new Map<string, number>();
  readonly #pending = new Map<string, Promise<Principal>>();
  readonly #unknownKeyLookups = openLimiter(unknownKeyLookupsMax);
  #invalidations = 0;

  constructor(database: Database, pepper: string) {
    this.#database = database;
    this.#statement = prepareLookup(database);
    this.#pepper = pepper;
  }

  /**
   * Authenticates a key. Synchronous when it is cached, which is nearly always.
   * @throws IngestError `unauthorized`; `ingest_unavailable` when Postgres is unreachable and the key is not
   * cached.
   */
  find(apiKey: string): Principal | Promise<Principal> {
    const nowMs = performance.now();
    const cached = this.#cached.get(apiKey);
    if (cached !== undefined && cached.freshUntilMs > nowMs && cached.expiresAtMs > Date.now()) {
      return cached.principal;
    }
    if ((this.#invalid.get(apiKey) ?? 0) > nowMs || !isApiKey(apiKey)) throw unauthorized();
    const pending =
      this.#pending.get(apiKey) ?? this.#lookUp(apiKey).finally(() => this.#pending.delete(apiKey));
    this.#pending.set(apiKey, pending);
    return pending;
  }

  /** Makes the next use of every matching key query Postgres, because the key or its space has changed. */
  invalidate(matches: (key: { spaceId: string; hash: string }) => boolean): void {
    // A new key may have been tried, and cached as invalid, before it was committed.
    this.#invalid.clear();
    this.#invalidations += 1;
    for (const cached of this.#cached.values()) {
      // Expired, not deleted: while Postgres is unreachable, the last known state is used.
      if (matches({ spaceId: cached.principal.spaceId, hash: cached.hash })) cached.freshUntilMs = 0;
    }
  }

  async #lookUp(apiKey: string): Promise<Principal> {
    const hash = hashApiKey(apiKey, this.#pepper);
    const invalidationsBefore = this.#invalidations;
    let row: LookupRow | undefined;
    try {
      row = await withTimeout(keyLookupTimeoutMs, this.#queryInTurn(apiKey, hash));
    } catch (error) {
      return this.#lastKnown(apiKey, error);
    }
    const expiresAtMs = row?.expiresAt?.getTime() ?? Infinity;
    if (row === undefined || expiresAtMs <= Date.now()) {
      this.#cached.delete(apiKey);
      this.#rememberInvalid(apiKey);
      throw unauthorized();
    }
    const { expiresAt: _, ...principal } = row;
    // A change that was notified during the query may be missing from its result: do not cache it.
    const freshMs = this.#invalidations === invalidationsBefore ? keyCacheMs : 0;
    this.#cached.set(apiKey, {
      principal,
      hash: hash.toString('hex'),
      expiresAtMs,
      freshUntilMs: performance.now() + freshMs,
    });
    return principal;
  }

  /** Keys that existed at the first look-up do not queue behind unknown keys, which anybody can invent. */
  async #queryInTurn(apiKey: string, hash: Buffer): Promise<LookupRow | undefined> {
    const isKnown = this.#cached.has(apiKey) || (await this.#readKnown()).has(hash.toString('hex'));
    return isKnown ? this.#query(hash) : this.#queryUnknownKey(hash);
  }

  /** @throws the driver's error. The next look-up reads again. */
  #readKnown(): Promise<ReadonlySet<string>> {
    this.#known ??= readKnownHashes(this.#database).catch((error: unknown) => {
      this.#known = undefined;
      throw error;
    });
    return this.#known;
  }

  /** Limits concurrent look-ups of unknown keys, which anybody can invent. */
  #queryUnknownKey(hash: Buffer) {
    const latestMs = performance.now() + keyLookupTimeoutMs;
    return this.#unknownKeyLookups(async () => {
      // The request has timed out. Without this check a flood's look-ups would still run after the flood.
      if (performance.now() > latestMs) throw new TimeoutError('the look-up waited too long');
      return this.#query(hash);
    });
  }

  async #query(hash: Buffer): Promise<LookupRow | undefined> {
    const [row] = await this.#statement.execute({ hash });
    return row;
  }

  /** For an unreachable Postgres: a key that was valid stays valid, any other gets a 503 instead of a 401. */
  #lastKnown(apiKey: string, cause: unknown): Principal {
    const cached = this.#cached.get(apiKey);
    if (cached === undefined || cached.expiresAtMs <= Date.now()) {
      throw new IngestError(
        'ingest_unavailable',
        'The API key cannot be checked at this moment. Retry later.',
        { cause },
      );
    }
    // Not queried again for a while: if Postgres hangs, every request would wait for the time-out.
    cached.freshUntilMs = performance.now() + unknownKeyCacheMs;
    return cached.principal;
  }

  #rememberInvalid(apiKey: string): void {
    const [oldest] = this.#invalid.keys();
    if (this.#invalid.size >= unknownKeysMax && oldest !== undefined) this.#invalid.delete(oldest);
    this.#invalid.set(apiKey, performance.now() + unknownKeyCacheMs);
  }
}

/** Reads the most recently used keys, up to `knownKeysMax`. */
async function readKnownHashes(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database
    .select({ hash: apiKeys.hash })
    .from(apiKeys)
    .where(and(isNull(apiKeys.revokedAt), eq(apiKeys.scope, 'ingest')))
    .orderBy(sql`${apiKeys.lastUsedAt} DESC NULLS LAST`)
    .limit(knownKeysMax);
  return new Set(rows.map(({ hash }) => hash.toString('hex')));
}

function prepareLookup(database: Database) {
  return database
    .select({
      keyId: apiKeys.id,
      spaceId: spaces.id,
      billingState: spaces.billingState,
      monthlyEventLimit: spaces.monthlyEventLimit,
      expiresAt: apiKeys.expiresAt,
    })
    .from(apiKeys)
    .innerJoin(spaces, eq(spaces.id, apiKeys.spaceId))
    .where(
      and(
        eq(apiKeys.hash, sql.placeholder('hash')),
        isNull(apiKeys.revokedAt),
        eq(apiKeys.scope, 'ingest'),
        isNull(spaces.deleteAt),
      ),
    )
    .prepare('api_key');
}

type LookupStatement = ReturnType<typeof prepareLookup>;
type LookupRow = Awaited<ReturnType<LookupStatement['execute']>>[number];

export function unauthorized(): IngestError {
  return new IngestError('unauthorized', 'The API key is missing or invalid.');
}
