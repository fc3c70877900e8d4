import { monthEnd, monthOf } from '../../lib/access/month.ts';
import type { Sql } from '../../lib/db/connect.ts';
import { IngestError } from '../../lib/errors.ts';
import { usageCacheMs } from '../../lib/limits.ts';
import type { Access } from './access.ts';

/** Waits until the writer has stored what was queued up to a sequence number, for a bounded time. */
export type AwaitStored = (sequence: number) => Promise<void>;

interface Usage {
  month: string;
  /** Rows of the month in the database, when it was last asked. */
  stored: number;
  readAtMs: number;
  /** Events accepted here since the count was last known to be exact. Some may turn out to be duplicates. */
  pending: number;
  lastSequence: number;
  settling: Promise<void> | undefined;
}

/** What a client is told about its quota. */
export interface QuotaView {
  limit: number;
  used: number;
}

/**
 * Decides whether a space can accept events (contract §4, behaviour 2). The batch that crosses the limit is accepted
 * whole, and the next one is refused. Only rows that are stored count, so that a retry burns nothing: where the
 * events on their way could make the difference, the request waits until they are counted.
 */
export class Quota {
  readonly #sql: Sql;
  readonly #awaitStored: AwaitStored;
  readonly #usages = new Map<string, Usage>();

  constructor(sql: Sql, awaitStored: AwaitStored) {
    this.#sql = sql;
    this.#awaitStored = awaitStored;
  }

  /**
   * Lets a request pass, or refuses it. Synchronous for a space without a limit.
   *
   * @throws IngestError `billing_not_active`, `usage_limit_exceeded`. Never because Postgres is away: what cannot be
   *   counted is let through.
   */
  admit(access: Access): QuotaView | undefined | Promise<QuotaView> {
    if (access.billingState !== 'active') {
      throw new IngestError(
        'billing_not_active',
        "The space's subscription is not active: it cannot accept events.",
      );
    }
    const { monthlyEventLimit: limit } = access;
    return limit === null ? undefined : this.#admitWithin(limit, access.spaceId);
  }

  /** Notes what a space with a limit has just been promised. */
  noteAccepted(spaceId: string, events: number, sequence: number): void {
    const usage = this.#usages.get(spaceId);
    if (usage === undefined) return;
    usage.pending += events;
    usage.lastSequence = Math.max(usage.lastSequence, sequence);
  }

  async #admitWithin(limit: number, spaceId: string): Promise<QuotaView> {
    const usage = this.#usageOf(spaceId);
    if (usage.readAtMs + usageCacheMs < performance.now()) await this.#read(spaceId, usage);
    if (usage.stored < limit && usage.stored + usage.pending >= limit) {
      usage.settling ??= this.#settle(spaceId, usage).finally(() => {
        usage.settling = undefined;
      });
      await usage.settling;
    }
    if (usage.stored < limit) return { limit, used: usage.stored };
    throw new IngestError(
      'usage_limit_exceeded',
      `The space has used ${usage.stored} of the ${limit} events included this month. ` +
        `The count starts anew at ${monthEnd(Date.now())}.`,
    );
  }

  #usageOf(spaceId: string): Usage {
    const month = monthOf(Date.now());
    const known = this.#usages.get(spaceId);
    if (known?.month === month) return known;
    const fresh: Usage = {
      month,
      stored: 0,
      readAtMs: -Infinity,
      pending: 0,
      lastSequence: 0,
      settling: undefined,
    };
    this.#usages.set(spaceId, fresh);
    return fresh;
  }

  async #settle(spaceId: string, usage: Usage): Promise<void> {
    const { pending, lastSequence } = usage;
    await this.#awaitStored(lastSequence);
    await this.#read(spaceId, usage);
    usage.pending -= pending;
  }

  async #read(spaceId: string, usage: Usage): Promise<void> {
    try {
      const [row] = await this.#sql<{ events: number }[]>`
        SELECT events::double precision AS events FROM usage_months WHERE space_id = ${spaceId} AND month = ${usage.month}`;
      usage.stored = row?.events ?? 0;
    } catch {
      // Postgres away: the last count stands, and the quota is settled when it is back.
    }
    usage.readAtMs = performance.now();
  }
}
