import { and, asc, eq, isNotNull, lte, notInArray } from 'drizzle-orm';
import { storeTimeoutMs } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import { traces } from '../db/schema.ts';
import { postponedMs, resolvedNodesMax, turnSpansMax, turnTracesMax } from './limits.ts';
import { resolveTraces } from './resolve-traces.ts';
import { listUnresolvedSpaces } from './unresolved-traces.ts';

/** A statement that stores an event ends within this time, and then its trace is unresolved again. */
const incompleteMsMax = 2 * storeTimeoutMs;

/** A trace that is not looked at for a while, and since when this version waits for an event. */
interface Postponed {
  readonly version: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

type Listed = Pick<typeof traces.$inferSelect, 'traceId' | 'version' | 'spans'>;

export interface ResolverOptions {
  /** Without it, all spaces. */
  readonly spaceId?: string;
  /** Called with a space whose events may have changed. */
  readonly onResolved?: (spaceId: string) => void;
  /** Called with the error of a trace, which is tried again later. */
  readonly onError?: (error: unknown, trace: { spaceId: string; traceId: string }) => void;
}

/**
 * Resolves the traces that stored spans and events have made unresolved (ADR 27). Spaces take turns, each
 * with a bounded number of spans, so that a space with long traces does not delay the others. Several
 * resolvers may run at the same time.
 */
export class TraceResolver {
  readonly #database: Database;
  readonly #options: ResolverOptions;
  readonly #postponed = new Map<string, Map<string, Postponed>>();

  constructor(database: Database, options: ResolverOptions = {}) {
    this.#database = database;
    this.#options = options;
  }

  /** Takes turns until no trace is left, except those that are postponed. @returns whether some are. */
  async run(signal?: AbortSignal): Promise<boolean> {
    this.#forgetOld();
    const { spaceId: only } = this.#options;
    for (let isBusy = true; isBusy; ) {
      isBusy = false;
      const spaceIds = only === undefined ? await listUnresolvedSpaces(this.#database) : [only];
      for (const spaceId of shuffle(spaceIds)) {
        if (signal?.aborted) return true;
        if (await this.#takeTurn(spaceId)) isBusy = true;
      }
    }
    return this.#postponed.size > 0;
  }

  /** @returns whether a trace was resolved. */
  async #takeTurn(spaceId: string): Promise<boolean> {
    const left = [...(this.#postponed.get(spaceId) ?? [])].filter(([, { untilMs }]) => untilMs > Date.now());
    const found = await this.#listTraces(
      spaceId,
      left.map(([traceId]) => traceId),
    );
    if (found.length === 0) return false;
    const isResolved = await this.#resolve(spaceId, found);
    if (isResolved) this.#options.onResolved?.(spaceId);
    return isResolved;
  }

  /** The traces of a turn, those that wait longest first. */
  async #listTraces(spaceId: string, left: readonly string[]): Promise<Listed[]> {
    const { traceId, version, spans, unresolvedSince } = traces;
    const rows = await this.#database
      .select({ traceId, version, spans })
      .from(traces)
      .where(
        and(
          eq(traces.spaceId, spaceId),
          isNotNull(unresolvedSince),
          lte(spans, resolvedNodesMax),
          notInArray(traceId, [...left]),
        ),
      )
      .orderBy(asc(unresolvedSince))
      .limit(turnTracesMax);
    let total = 0;
    return rows.flatMap((row, place) => {
      total += row.spans;
      return place === 0 || total <= turnSpansMax ? row : [];
    });
  }

  /**
   * Resolves traces: those that wait for an event one by one, and halves of several if some have changed.
   * @returns whether a trace was resolved.
   */
  async #resolve(spaceId: string, listed: readonly Listed[]): Promise<boolean> {
    const traceIds = listed.map(({ traceId }) => traceId);
    const lone = listed.length === 1 ? listed[0] : undefined;
    const half = listed.length >> 1;
    let isResolved = false;
    let left = [listed.slice(0, half), listed.slice(half)];
    try {
      const mayWait = lone === undefined || this.#mayWait(spaceId, lone);
      const outcome = await resolveTraces(this.#database, spaceId, { traceIds, mayWait });
      if (outcome !== 'changed') {
        isResolved = outcome.size < listed.length;
        for (const traceId of new Set(traceIds).difference(outcome)) this.#forget(spaceId, traceId);
        left = listed.filter(({ traceId }) => outcome.has(traceId)).map((one) => [one]);
        if (lone !== undefined && !isResolved) this.#postpone(spaceId, lone);
      }
    } catch (error) {
      if (lone !== undefined) {
        this.#options.onError?.(error, { spaceId, traceId: lone.traceId });
        this.#postpone(spaceId, lone);
      }
    }
    if (lone !== undefined) return isResolved;
    for (const some of left) if (await this.#resolve(spaceId, some)) isResolved = true;
    return isResolved;
  }

  #mayWait(spaceId: string, { traceId, version }: Listed): boolean {
    const known = this.#postponed.get(spaceId)?.get(traceId);
    return known?.version !== version || Date.now() - known.sinceMs < incompleteMsMax;
  }

  #postpone(spaceId: string, { traceId, version }: Listed): void {
    const own = this.#postponed.get(spaceId) ?? new Map<string, Postponed>();
    const known = own.get(traceId);
    const nowMs = Date.now();
    const sinceMs = known?.version === version ? known.sinceMs : nowMs;
    own.set(traceId, { version, sinceMs, untilMs: nowMs + postponedMs });
    this.#postponed.set(spaceId, own);
  }

  #forget(spaceId: string, traceId: string): void {
    const own = this.#postponed.get(spaceId);
    own?.delete(traceId);
    if (own?.size === 0) this.#postponed.delete(spaceId);
  }

  /** Traces that were deleted, or that another resolver has resolved, are not listed again. */
  #forgetOld(): void {
    for (const [spaceId, own] of this.#postponed)
      for (const [traceId, { untilMs }] of own)
        if (Date.now() - untilMs > incompleteMsMax) this.#forget(spaceId, traceId);
  }
}

function shuffle<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
