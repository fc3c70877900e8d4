import { eq, sql } from 'drizzle-orm';
import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import { dayOf } from '../../../store/accounts/month.ts';
import type { Database } from '../../../store/db/database.ts';
import { rowsOfKeptSpaces } from '../../../store/db/deleted-spaces.ts';
import { leaveReadOnlySession } from '../../../store/db/read-only.ts';
import { apiKeys, usageDays } from '../../../store/db/schema.ts';

/** `last_used_at` of an API key is written at most once in this time. */
const keyLastUseFlushMs = 60_000;

/** Events of one key and day that the queue dropped as duplicates. */
type Repeats = Omit<typeof usageDays.$inferSelect, 'events'>;

/**
 * Records when API keys were last used, and how many events the queue dropped because their request was an
 * unchanged retry; the writer never sees those. Both are written once a minute: a write for each request
 * would cost too much.
 */
export class KeyUses implements AsyncDisposable {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #loop: AsyncDisposable;
  #lastUses = new Map<string, number>();
  #repeats = new Map<string, Repeats>();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
    this.#loop = startLoop(
      {
        run: () => this.flush(),
        intervalMs: keyLastUseFlushMs,
        delayMs: keyLastUseFlushMs,
        failure: 'last uses of API keys were not written',
      },
      log,
    );
  }

  note(keyId: string, atMs: number): void {
    this.#lastUses.set(keyId, atMs);
  }

  noteRepeats({ spaceId, keyId }: { spaceId: string; keyId: string }, events: number, atMs: number): void {
    const day = dayOf(atMs);
    const known = this.#repeats.get(`${keyId} ${day}`);
    if (known !== undefined) known.repeats += events;
    else this.#repeats.set(`${keyId} ${day}`, { spaceId, apiKeyId: keyId, day, repeats: events });
  }

  /**
   * Writes the records. Never rejects: what was not written is kept for the next time. Repeats whose own
   * statement failed are dropped: it may have been committed.
   */
  async flush(): Promise<void> {
    const uses = this.#lastUses;
    this.#lastUses = new Map();
    try {
      if (uses.size > 0) await this.#writeUses(uses);
      uses.clear();
      const repeats = this.#repeats;
      this.#repeats = new Map();
      if (repeats.size > 0) await this.#writeRepeats([...repeats.values()]);
    } catch (error) {
      for (const [keyId, atMs] of uses) if (!this.#lastUses.has(keyId)) this.#lastUses.set(keyId, atMs);
      this.#log.warn({ err: error, keys: uses.size }, 'uses of API keys could not be written');
      await leaveReadOnlySession(this.#database.$client, error);
    }
  }

  async #writeUses(uses: ReadonlyMap<string, number>): Promise<void> {
    const ids = `{${[...uses.keys()]}}`;
    const atMs = `{${[...uses.values()]}}`;
    await this.#database
      .update(apiKeys)
      .set({ lastUsedAt: sql`to_timestamp(used.at_ms / 1000)` })
      .from(sql`unnest(${ids}::uuid[], ${atMs}::float8[]) AS used(id, at_ms)`)
      .where(eq(apiKeys.id, sql`used.id`));
  }

  async #writeRepeats(rows: Repeats[]): Promise<void> {
    // Sorted by primary key, as in the writer's statement: the same lock order prevents deadlocks.
    const keyOf = ({ spaceId, day, apiKeyId }: Repeats) => `${spaceId} ${day} ${apiKeyId}`;
    const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    await this.#database
      .insert(usageDays)
      .select(
        rowsOfKeptSpaces(
          usageDays,
          sorted.map((row) => ({ ...row, events: 0 })),
        ),
      )
      .onConflictDoUpdate({
        target: [usageDays.spaceId, usageDays.day, usageDays.apiKeyId],
        set: { repeats: sql`${usageDays.repeats} + excluded.${sql.identifier(usageDays.repeats.name)}` },
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    await this.flush();
  }
}
