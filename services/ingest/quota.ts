import { monthEnd, monthOf } from '../../lib/access/month.ts';
import type { Sql } from '../../lib/db/connect.ts';
import { IngestError } from '../../lib/errors.ts';
import { usageCacheMs } from '../../lib/limits.ts';
import type { QueuePosition } from '../../lib/queue/failover.ts';
import type { Acceptance, AcceptanceExchange } from './acceptances.ts';
import type { Access } from './access.ts';

export interface QuotaDependencies {
  sql: Sql;
  /** Waits until the writers have stored what was queued up to a position, for a bounded time. */
  awaitStored: (position: QueuePosition) => Promise<void>;
  exchange: AcceptanceExchange;
}

interface Usage {
  month: string;
  /** Rows of the month in the database, when it was last asked. */
  stored: number;
  readAtMs: number;
  /** Events accepted, here or elsewhere, since the count was last known to be exact. Some may turn out to be duplicates. */
  pending: number;
  /** The last accepted message of each stream. */
  lastSequences: Map<string, number>;
  settling: Promise<void> | undefined;
}

/** What a client is told about its quota. */
export interface QuotaView {
  limit: number;
  used: number;
}

/**
 * Decides whether a space can accept events (contract §4, behaviour 2). The batch that crosses the limit is accepted
 * whole, and the next one is refused, whichever process it comes to. Only rows that are stored count, so that a retry burns nothing: where the
 * events on their way could make the difference, the request waits until they are counted.
 */
export class Quota {
  readonly #sql: Sql;
  readonly #awaitStored: QuotaDependencies['awaitStored'];
  readonly #exchange: AcceptanceExchange;
  readonly #usages = new Map<string, Usage>();

  constructor({ sql, awaitStored, exchange }: QuotaDependencies) {
    this.#sql = sql;
    this.#awaitStored = awaitStored;
    this.#exchange = exchange;
    exchange.listen((acceptance) => this.#note(acceptance));
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

  /** Notes what a space with a limit is about to be promised, and resolves when the other processes know of it. */
  async noteAccepted(acceptance: Acceptance): Promise<void> {
    this.#note(acceptance);
    await this.#exchange.announce(acceptance);
  }

  #note({ spaceId, events, position: { stream, sequence } }: Acceptance): void {
    const usage = this.#usageOf(spaceId);
    usage.pending += events;
    usage.lastSequences.set(stream, Math.max(usage.lastSequences.get(stream) ?? 0, sequence));
  }

  async #admitWithin(limit: number, spaceId: string): Promise<QuotaView> {
    await this.#exchange.caughtUp();
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
      lastSequences: new Map(),
      settling: undefined,
    };
    this.#usages.set(spaceId, fresh);
    return fresh;
  }

  async #settle(spaceId: string, usage: Usage): Promise<void> {
    const { pending, lastSequences } = usage;
    await Promise.all(
      Array.from(lastSequences, ([stream, sequence]) => this.#awaitStored({ stream, sequence })),
    );
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
