import type { Sql } from '../../lib/db/connect.ts';
import { leaveReadOnlySession } from '../../lib/db/read-only.ts';
import { keyLastUseFlushMs } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';

/** Notes when API keys are used, and writes it down once a minute: a write a request would cost more than the request. */
export class KeyUses implements AsyncDisposable {
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #lastUses = new Map<string, number>();

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), keyLastUseFlushMs);
  }

  note(keyId: string, atMs: number): void {
    this.#lastUses.set(keyId, atMs);
  }

  /** Never rejects: when Postgres is away, the next use is noted again. */
  async flush(): Promise<void> {
    if (this.#lastUses.size === 0) return;
    const uses = this.#lastUses;
    this.#lastUses = new Map();
    try {
      await this.#sql`
        UPDATE api_keys SET last_used_at = to_timestamp(used.at_ms / 1000)
        FROM unnest(${`{${[...uses.keys()]}}`}::uuid[], ${`{${[...uses.values()]}}`}::float8[]) AS used(id, at_ms)
        WHERE api_keys.id = used.id`;
    } catch (error) {
      this.#log.warn({ err: error, keys: uses.size }, 'last uses of API keys are not written');
      await leaveReadOnlySession(this.#sql, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
