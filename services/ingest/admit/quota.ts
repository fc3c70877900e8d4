import { and, eq, sql } from 'drizzle-orm';
import { monthEnd, monthOf } from '../../../lib/accounts/month.ts';
import type { Database } from '../../../lib/db/database.ts';
import { usageMonths } from '../../../lib/db/schema.ts';
import { IngestError } from '../../../lib/errors.ts';
import type { QueuePosition } from '../../../lib/queue/failover.ts';
import { withTimeout } from '../../../lib/timeout.ts';
import { keyLookupTimeoutMs, usageCacheMs } from '../limits.ts';
import type { Principal } from './api-key-cache.ts';
import type { QuotaUsage, QuotaUsageBroadcast } from './quota-usage-broadcast.ts';

export interface QuotaDependencies {
  database: Database;
  /** Waits, for a bounded time, until the writers have stored what was queued up to a position. */
  awaitStored: (position: QueuePosition) => Promise<void>;
  broadcast: QuotaUsageBroadcast;
}

/** A space's usage of one month. */
interface Usage {
  month: string;
  /** Rows of the month in the database at the last read. */
  stored: number;
  readAtMs: number;
  /** Events accepted by any ingest process that `stored` may not count yet. Some may turn out to be duplicates. */
  pending: number;
  /** The last accepted message of each stream. */
  lastSequences: Map<string, number>;
  settling: Promise<void> | undefined;
}

/** A space's quota as the response headers show it. */
export interface QuotaView {
  limit: number;
  used: number;
}

/**
 * Decides whether a space can accept events (contract §4, behaviour 2; ADR 0007). The batch that crosses the limit is
 * accepted whole and the next one is rejected, whichever process receives it. Only stored rows count, so a retry uses no
 * quota: where pending events could reach the limit, the request waits until they are stored and counted.
 */
export class Quota {
  readonly #statement: ReturnType<typeof prepareUsage>;
  readonly #awaitStored: QuotaDependencies['awaitStored'];
  readonly #broadcast: QuotaUsageBroadcast;
  readonly #usages = new Map<string, Usage>();

  constructor({ database, awaitStored, broadcast }: QuotaDependencies) {
    this.#statement = prepareUsage(database);
    this.#awaitStored = awaitStored;
    this.#broadcast = broadcast;
    broadcast.listen((usage) => this.#note(usage));
  }

  /**
   * Admits a request, or throws. Synchronous for a space without a limit.
   *
   * @throws IngestError `billing_not_active`, `usage_limit_exceeded`. While Postgres is unreachable the last known count
   *   decides.
   */
  admit(principal: Principal): QuotaView | undefined | Promise<QuotaView> {
    if (principal.billingState !== 'active') {
      throw new IngestError(
        'billing_not_active',
        "The space's subscription is not active: it cannot accept events.",
      );
    }
    const { monthlyEventLimit: limit } = principal;
    return limit === null ? undefined : this.#admitWithin(limit, principal.spaceId);
  }

  /** Counts accepted events of a space with a limit, before their 202. Resolves when the other processes know of them. */
  async noteAccepted(usage: QuotaUsage): Promise<void> {
    this.#note(usage);
    await this.#broadcast.announce(usage);
  }

  #note({ spaceId, events, position: { stream, sequence } }: QuotaUsage): void {
    const usage = this.#usageOf(spaceId);
    usage.pending += events;
    usage.lastSequences.set(stream, Math.max(usage.lastSequences.get(stream) ?? 0, sequence));
  }

  async #admitWithin(limit: number, spaceId: string): Promise<QuotaView> {
    await this.#broadcast.caughtUp();
    const usage = this.#usageOf(spaceId);
    if (usage.readAtMs + usageCacheMs < performance.now()) await this.#read(spaceId, usage);
    if (usage.stored < limit && usage.stored + usage.pending >= limit) {
      usage.settling ??= this.#settle(spaceId, usage).finally(() => {
        usage.settling = undefined;
      });
      await usage.settling;
    }
    // It began anew while this waited: what the old one had used is over, and so is its header.
    if (usage.month !== monthOf(Date.now())) return this.#admitWithin(limit, spaceId);
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
      const query = this.#statement.execute({ spaceId, month: usage.month });
      const [row] = await withTimeout(keyLookupTimeoutMs, query);
      usage.stored = row?.events ?? 0;
    } catch {
      // Postgres is unreachable: the last count stands until the next read succeeds.
    }
    usage.readAtMs = performance.now();
  }
}

function prepareUsage(database: Database) {
  return database
    .select({ events: usageMonths.events })
    .from(usageMonths)
    .where(
      and(
        eq(usageMonths.spaceId, sql.placeholder('spaceId')),
        eq(usageMonths.month, sql.placeholder('month')),
      ),
    )
    .prepare('usage_month');
}
