import type { Database } from '../../../store/db/database.ts';
import { type DelayHistory, readDelays } from '../../../store/store-delays/read-delays.ts';
import { type Chart, type ChartQuery, readChart } from './chart.ts';
import { withCostRates } from './cost-rates.ts';
import { type CostQuery, type Costs, readCosts } from './costs.ts';
import { type Histogram, type HistogramQuery, readHistogram } from './histogram.ts';
import { readUsedModels, type UsedModel } from './model-prices.ts';
import { type CallTokens, type Cost, costOfCall } from './token-prices.ts';

/** Reads the charts of one space. */
export interface ChartReader {
  read(query: ChartQuery): Promise<Chart>;
  costs(query: CostQuery): Promise<Costs>;
  /** The cost of one model call. */
  costOfCall(tokens: CallTokens): Promise<Cost>;
  /** The models of the last 30 days and their prices. */
  usedModels(): Promise<UsedModel[]>;
  histogram(query: HistogramQuery): Promise<Histogram>;
  /** How long the events that were stored in a range took from receipt until they were stored. */
  delays(range: { fromMs: number; toMs: number }): Promise<DelayHistory['total']>;
}

export function openChartReader(database: Database, spaceId: string): ChartReader {
  return {
    read: (query) => readChart(database, spaceId, query),
    costs: (query) => readCosts(database, spaceId, query),
    costOfCall: (tokens) => costOfCall(database, spaceId, tokens),
    usedModels: () => readUsedModels(database, spaceId),
    histogram: async (query) => {
      const filter = await withCostRates(database, spaceId, query.filter);
      return readHistogram(database, spaceId, { ...query, filter });
    },
    delays: async (range) => (await readDelays(database, spaceId, range)).total,
  };
}
