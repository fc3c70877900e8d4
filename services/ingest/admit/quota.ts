import { and, eq, sql } from 'drizzle-orm';
import { IngestError } from '../../../event/errors.ts';
import { withTimeout } from '../../../platform/timeout.ts';
import { monthEnd, monthOf } from '../../../store/accounts/month.ts';
import type { Database } from '../../../store/db/database.ts';
import { usageMonths } from '../../../store/db/schema.ts';
import { keyLookupTimeoutMs } from '../limits.ts';
import type { Principal } from './api-key-cache.ts';
import { PendingEvents } from './pending-events.ts';
import type { QuotaUsage, QuotaUsageBroadcast } from './quota-usage-broadcast.ts';
import type { StoredPosition } from './stored-position.ts';

/** Longest age of the cached usage of a space with a quota. */
const usageCacheMs = 500;

/** A space's usage of one month. */
interface Usage {
  month: string;
  /** Rows of the month, as of the last read. */
  stored: number;
  readAtMs: number;
  /** Events accepted by any ingest process that `stored` may not count yet. */
  pending: PendingEvents;
  reading: Promise<boolean> | undefined;
  settling: Promise<boolean> | undefined;
}

/** A space's quota as the response headers show it. */
export interface QuotaView {
  limit: number;
  used: number;
}

/**
 * Decides whether a space can accept events (docs/api.md §4 and §6, ADR 0007). The batch that crosses the
 * limit is accepted whole and the next one is rejected, whichever process receives it. Only stored rows
 * count, so a retry uses no quota. When pending events could reach the limit, the request waits until they
 * are stored and counted. If that takes too long, the response is a 503: accepting the request could exceed
 * the limit, and a 402 could be wrong.
 */
export class Quota {
  readonly #statement: ReturnType<typeof prepareUsage>;
  readonly #storedPosition: StoredPosition;
  readonly #broadcast: QuotaUsageBroadcast;
  readonly #usages = new Map<string, Usage>();

  constructor(database: Database, storedPosition: StoredPosition, broadcast: QuotaUsageBroadcast) {
    this.#statement = prepareUsage(database);
    this.#storedPosition = storedPosition;
    this.#broadcast = broadcast;
    broadcast.listen((usage) => this.#note(usage));
  }

  /**
   * Admits a request, or throws. Synchronous for a space without a limit.
   * @throws IngestError `billing_not_active`, `usage_limit_exceeded`; `ingest_unavailable` when pending
   * events could reach the limit and are not counted within `quotaSettleTimeoutMs`: the writers lag, or
   * Postgres or NATS is unreachable.
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

  /** Counts accepted events before their 202. Resolves when the other processes have received the count. */
  async noteAccepted(usage: QuotaUsage): Promise<void> {
    this.#note(usage);
    await this.#broadcast.announce(usage);
  }

  #note({ spaceId, events, position }: QuotaUsage): void {
    this.#usageOf(spaceId).pending.add(events, position);
  }

  async #admitWithin(limit: number, spaceId: string): Promise<QuotaView> {
    await this.#broadcast.caughtUp();
    const usage = this.#usageOf(spaceId);
    if (usage.readAtMs + usageCacheMs < performance.now()) await this.#read(spaceId, usage);
    let isCounted = true;
    const isUndecided = () => usage.stored < limit && usage.stored + usage.pending.count >= limit;
    if (isUndecided()) {
      usage.settling ??= this.#settle(spaceId, usage).finally(() => {
        usage.settling = undefined;
      });
      isCounted = await usage.settling;
    }
    // The month changed while the request waited: decide again by the usage of the new month.
    if (usage.month !== monthOf(Date.now())) return this.#admitWithin(limit, spaceId);
    if (!isCounted && isUndecided()) {
      throw new IngestError(
        'ingest_unavailable',
        `The space may have used the ${limit} events included this month: its latest events are not counted yet. ` +
          'Retry with the same event ids.',
      );
    }
    if (usage.stored < limit) return { limit, used: usage.stored };
    throw new IngestError(
      'usage_limit_exceeded',
      `The space has used ${usage.stored} of the ${limit} events included this month. ` +
        `The count resets at ${monthEnd(Date.now())}.`,
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
      pending: new PendingEvents(),
      reading: undefined,
      settling: undefined,
    };
    this.#usages.set(spaceId, fresh);
    return fresh;
  }

  /** @returns whether all events that were pending at the call are counted now. */
  async #settle(spaceId: string, usage: Usage): Promise<boolean> {
    const isStored = await this.#storedPosition.reaches(usage.pending.positions());
    // A read in flight may have started before the last event was stored: wait for it, then read again.
    await usage.reading;
    return (await this.#read(spaceId, usage)) && isStored;
  }

  /** Runs one read at a time, so that an older count never replaces a newer one. */
  #read(spaceId: string, usage: Usage): Promise<boolean> {
    usage.reading ??= this.#readOnce(spaceId, usage).finally(() => {
      usage.reading = undefined;
    });
    return usage.reading;
  }

  /** @returns false when Postgres is unreachable: the last count is used until a read succeeds. */
  async #readOnce(spaceId: string, usage: Usage): Promise<boolean> {
    try {
      const storedUpTo = await this.#storedPosition.read();
      const query = this.#statement.execute({ spaceId, month: usage.month });
      const [row] = await withTimeout(keyLookupTimeoutMs, query);
      usage.stored = row?.events ?? 0;
      usage.pending.dropStored(storedUpTo);
      return true;
    } catch {
      return false;
    } finally {
      usage.readAtMs = performance.now();
    }
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
