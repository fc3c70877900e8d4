import { hashApiKey, isApiKey } from '../../lib/access/api-key.ts';
import type { Sql } from '../../lib/db/connect.ts';
import { IngestError } from '../../lib/errors.ts';
import { openGate } from '../../lib/gate.ts';
import {
  keyCacheMs,
  keyLookupTimeoutMs,
  strangersAtOnceMax,
  unknownKeyCacheMs,
  unknownKeysMax,
} from '../../lib/limits.ts';
import { TimeoutError, withTimeout } from '../../lib/timeout.ts';

/** What an API key opens. */
export interface Access {
  readonly keyId: string;
  readonly spaceId: string;
  readonly billingState: 'active' | 'inactive';
  readonly monthlyEventLimit: number | null;
}

interface Known {
  readonly access: Access;
  readonly hash: string;
  readonly expiresAtMs: number;
  /** Asked again after this instant of the monotonic clock. */
  freshUntilMs: number;
}

/**
 * Knows API keys (contract §5). Answers are kept: good ones for 30 s, and for as long as Postgres is away; bad ones
 * for 2 s. `forget` takes a changed one out at once.
 */
export class AccessDirectory {
  readonly #sql: Sql;
  readonly #pepper: string;
  readonly #known = new Map<string, Known>();
  readonly #unknown = new Map<string, number>();
  readonly #underway = new Map<string, Promise<Access>>();
  readonly #strangers = openGate(strangersAtOnceMax);
  #changes = 0;

  constructor(sql: Sql, pepper: string) {
    this.#sql = sql;
    this.#pepper = pepper;
  }

  /**
   * What the key opens. It answers synchronously when it knows, as it nearly always does.
   *
   * @throws IngestError `unauthorized`; `ingest_unavailable` when Postgres cannot be asked about a key not known yet.
   */
  find(apiKey: string): Access | Promise<Access> {
    const nowMs = performance.now();
    const known = this.#known.get(apiKey);
    if (known !== undefined && known.freshUntilMs > nowMs && known.expiresAtMs > Date.now())
      return known.access;
    if ((this.#unknown.get(apiKey) ?? 0) > nowMs || !isApiKey(apiKey)) throw unauthorized();
    const underway =
      this.#underway.get(apiKey) ?? this.#lookUp(apiKey).finally(() => this.#underway.delete(apiKey));
    this.#underway.set(apiKey, underway);
    return underway;
  }

  /** Asks again for every key that matches, because something about it changed. */
  forget(matches: (key: { spaceId: string; hash: string }) => boolean): void {
    // A key that was made a moment ago may have been tried, and refused, before it was there.
    this.#unknown.clear();
    this.#changes += 1;
    for (const known of this.#known.values()) {
      // Not deleted: what was known is still the answer while Postgres is away.
      if (matches({ spaceId: known.access.spaceId, hash: known.hash })) known.freshUntilMs = 0;
    }
  }

  async #lookUp(apiKey: string): Promise<Access> {
    const hash = hashApiKey(apiKey, this.#pepper);
    const changesBefore = this.#changes;
    let row: (Access & { expiresAt: Date | null }) | undefined;
    try {
      const query = this.#known.has(apiKey) ? this.#query(hash) : this.#queryStranger(hash);
      [row] = await withTimeout(keyLookupTimeoutMs, query);
    } catch (error) {
      return this.#lastKnown(apiKey, error);
    }
    const expiresAtMs = row?.expiresAt?.getTime() ?? Infinity;
    if (row === undefined || expiresAtMs <= Date.now()) {
      this.#known.delete(apiKey);
      this.#rememberUnknown(apiKey);
      throw unauthorized();
    }
    const { expiresAt: _, ...access } = row;
    // A change that was notified while we asked may be missing from the answer: it counts this once.
    const freshMs = this.#changes === changesBefore ? keyCacheMs : 0;
    this.#known.set(apiKey, {
      access,
      hash: hash.toString('hex'),
      expiresAtMs,
      freshUntilMs: performance.now() + freshMs,
    });
    return access;
  }

  /** Anybody can make up keys: those never seen leave connections free for the others, and for the quota. */
  #queryStranger(hash: Buffer) {
    const latestMs = performance.now() + keyLookupTimeoutMs;
    return this.#strangers(async () => {
      // Whoever asked has had an answer: a flood must not be worked off after it has passed.
      if (performance.now() > latestMs) throw new TimeoutError('not asked in time');
      return this.#query(hash);
    });
  }

  #query(hash: Buffer) {
    return this.#sql<(Access & { expiresAt: Date | null })[]>`
      SELECT api_keys.id AS "keyId", spaces.id AS "spaceId", billing_state AS "billingState",
        monthly_event_limit::double precision AS "monthlyEventLimit", expires_at AS "expiresAt"
      FROM api_keys JOIN spaces ON spaces.id = space_id
      WHERE hash = ${hash} AND revoked_at IS NULL`;
  }

  /** Postgres is away: a key that was good stays good, and nobody is told that a key is bad. */
  #lastKnown(apiKey: string, cause: unknown): Access {
    const known = this.#known.get(apiKey);
    if (known === undefined || known.expiresAtMs <= Date.now()) {
      throw new IngestError(
        'ingest_unavailable',
        'The API key cannot be checked at this moment. Retry later.',
        { cause },
      );
    }
    // Not asked again for a while: with Postgres hanging, every request would wait for the time-out.
    known.freshUntilMs = performance.now() + unknownKeyCacheMs;
    return known.access;
  }

  #rememberUnknown(apiKey: string): void {
    const [oldest] = this.#unknown.keys();
    if (this.#unknown.size >= unknownKeysMax && oldest !== undefined) this.#unknown.delete(oldest);
    this.#unknown.set(apiKey, performance.now() + unknownKeyCacheMs);
  }
}

export function unauthorized(): IngestError {
  return new IngestError('unauthorized', 'The API key is missing or invalid.');
}
