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
  readonly #statements: LookupStatements;
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
    this.#statements = prepareLookups(database);
    this.#pepper = pepper;
  }

  /**
   * Authenticates a key. Synchronous when it is cached, which is nearly always.
   * @throws IngestError `unauthorized`; `ingest_unavailable` when Postgres is unreachable and the key is not
   * cached.
   */
  find(apiKey: string): Principal | Promise<Principal> {
    // First: the cache knows keys by their ids, too, which are no secret.
    if (!isApiKey(apiKey)) throw unauthorized();
    return this.#findFresh(apiKey) ?? this.#refresh(apiKey, () => this.#queryInTurn(apiKey));
  }

  /** Checks a key again that was authenticated before, by its id. @throws as {@link find} */
  findById(keyId: string): Principal | Promise<Principal> {
    return this.#findFresh(keyId) ?? this.#refresh(keyId, () => this.#query('byId', keyId));
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

  /** @param name a key, or the id of one. */
  #findFresh(name: string): Principal | undefined {
    const cached = this.#cached.get(name);
    const isFresh = cached !== undefined && cached.freshUntilMs > performance.now();
    return isFresh && cached.expiresAtMs > Date.now() ? cached.principal : undefined;
  }

  #refresh(name: string, query: Query): Promise<Principal> {
    if ((this.#invalid.get(name) ?? 0) > performance.now()) throw unauthorized();
    const pending =
      this.#pending.get(name) ?? this.#lookUp(name, query).finally(() => this.#pending.delete(name));
    this.#pending.set(name, pending);
    return pending;
  }

  async #lookUp(name: string, query: Query): Promise<Principal> {
    const invalidationsBefore = this.#invalidations;
    let row: LookupRow | undefined;
    try {
      row = await withTimeout(keyLookupTimeoutMs, query());
    } catch (error) {
      return this.#lastKnown(name, error);
    }
    const expiresAtMs = row?.expiresAt?.getTime() ?? Infinity;
    if (row === undefined || expiresAtMs <= Date.now()) {
      this.#cached.delete(name);
      this.#rememberInvalid(name);
      throw unauthorized();
    }
    const { expiresAt: _, hash, ...principal } = row;
    // A change that was notified during the query may be missing from its result: do not cache it.
    const freshMs = this.#invalidations === invalidationsBefore ? keyCacheMs : 0;
    const freshUntilMs = performance.now() + freshMs;
    const cached = { principal, hash: hash.toString('hex'), expiresAtMs, freshUntilMs };
    // Also by the id: while Postgres is unreachable an upload that was announced is taken.
    for (const own of [name, principal.keyId]) this.#cached.set(own, cached);
    return principal;
  }

  /** Keys that existed at the first look-up do not queue behind unknown keys, which anybody can invent. */
  async #queryInTurn(apiKey: string): Promise<LookupRow | undefined> {
    const hash = hashApiKey(apiKey, this.#pepper);
    const isKnown = this.#cached.has(apiKey) || (await this.#readKnown()).has(hash.toString('hex'));
    return isKnown ? this.#query('byHash', hash) : this.#queryUnknownKey(hash);
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
      return this.#query('byHash', hash);
    });
  }

  async #query(statement: keyof LookupStatements, key: Buffer | string): Promise<LookupRow | undefined> {
    const [row] = await this.#statements[statement].execute({ key });
    return row;
  }

  /** For an unreachable Postgres: a key that was valid stays valid, any other gets a 503 instead of a 401. */
  #lastKnown(name: string, cause: unknown): Principal {
    const cached = this.#cached.get(name);
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

  #rememberInvalid(name: string): void {
    const [oldest] = this.#invalid.keys();
    if (this.#invalid.size >= unknownKeysMax && oldest !== undefined) this.#invalid.delete(oldest);
    this.#invalid.set(name, performance.now() + unknownKeyCacheMs);
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

function prepareLookups(database: Database) {
  const prepare = (column: typeof apiKeys.hash | typeof apiKeys.id) =>
    database
      .select({
        hash: apiKeys.hash,
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
          eq(column, sql.placeholder('key')),
          isNull(apiKeys.revokedAt),
          eq(apiKeys.scope, 'ingest'),
          isNull(spaces.deleteAt),
        ),
      )
      .prepare(`api_key_by_${column.name}`);
  return { byHash: prepare(apiKeys.hash), byId: prepare(apiKeys.id) };
}

type LookupStatements = ReturnType<typeof prepareLookups>;
type LookupRow = Awaited<ReturnType<LookupStatements['byId']['execute']>>[number];
type Query = () => Promise<LookupRow | undefined>;

export function unauthorized(): IngestError {
  return new IngestError('unauthorized', 'The API key is missing or invalid.');
}
