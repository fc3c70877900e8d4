import type { Actor } from '../../../store/accounts/audit/audit.ts';
import { readUsage, type Usage } from '../../../store/accounts/usage.ts';
import {
  type ListedPrice,
  listPrices,
  type ModelPrice,
  removePrice,
  setPrice,
} from '../../../store/prices/prices.ts';
import { listSenders, type Sender } from '../../../store/senders.ts';
import { type LargeTrace, listLargeTraces } from '../../../store/traces/large-traces.ts';
import { type ChartReader, openChartReader } from '../charts/chart-reader.ts';
import { withCostRates } from '../charts/cost-rates.ts';
import { type EventReader, openEventReader, type SharedReader } from '../events/event-reader.ts';
import type { LiveStreams } from '../live/live-streams.ts';
import { openSpaceLive, type SpaceLive } from '../live/space-live.ts';
import { type SearchPage, type SearchQuery, searchEvents } from '../search/search.ts';
import { openTraceReader, type TraceReader } from '../traces/trace-reader.ts';

/**
 * One space's data. Procedures access tenants' rows only through it: it is opened for a member of the space and bound to the space's
 * id, so a call cannot name another space by mistake.
 */
export interface SpaceStore {
  readonly spaceId: string;
  readonly events: EventReader;
  readonly live: SpaceLive;
  readonly traces: TraceReader;
  readonly charts: ChartReader;
  /** Searches payloads; aborting stops after the current segment. */
  search(query: SearchQuery, signal: AbortSignal | undefined): Promise<SearchPage>;
  readonly prices: SpacePrices;
  /** @returns undefined when the space was deleted meanwhile. */
  readUsage(): Promise<Usage | undefined>;
  listSenders(): Promise<Sender[]>;
  /** Traces with too many spans to be resolved. */
  listLargeTraces(): Promise<LargeTrace[]>;
}

/** The model prices that apply to the space. Users can only change the space's own prices. */
export interface SpacePrices {
  list(): Promise<ListedPrice[]>;
  set(actor: Actor, price: ModelPrice): Promise<void>;
  /** @returns whether there was one. */
  remove(actor: Actor, price: Pick<ModelPrice, 'model' | 'validFrom'>): Promise<boolean>;
}

export function openSpaceStore(shared: SharedReader & { streams: LiveStreams }, spaceId: string): SpaceStore {
  const { database } = shared;
  return {
    spaceId,
    events: openEventReader(shared, spaceId),
    live: openSpaceLive(database, shared.streams, spaceId),
    traces: openTraceReader(shared, spaceId),
    search: async (query, signal) => {
      const filter = await withCostRates(database, spaceId, query.filter);
      return shared.searchLimiter(() => searchEvents(database, spaceId, { ...query, filter }, signal));
    },
    charts: openChartReader(database, spaceId),
    prices: {
      list: () => listPrices(database, spaceId),
      set: (actor, price) => setPrice(database, { spaceId, actor }, price),
      remove: (actor, price) => removePrice(database, { spaceId, actor }, price),
    },
    readUsage: () => readUsage(database, spaceId),
    listSenders: () => listSenders(database, spaceId),
    listLargeTraces: () => listLargeTraces(database, spaceId),
  };
}
