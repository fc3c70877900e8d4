import { type SQL, sql } from 'drizzle-orm';
import { events } from '../../db/schema.ts';

/**
 * What the events of a list can be compared by: the duration in milliseconds, the tokens, the cost in US
 * dollars.
 */
export const measures = ['duration', 'tokens', 'cost'] as const;
export const operators = ['>', '>=', '<', '<='] as const;

/** A condition on a number of an event. Events without the number do not match. */
export interface Comparison {
  readonly measure: (typeof measures)[number];
  readonly operator: (typeof operators)[number];
  readonly value: number;
}

/**
 * The prices of a model for events that start in a span of time (`toMs` is excluded): dollars per million
 * tokens.
 */
export interface CostRate {
  readonly model: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, startTimeMs } = events;

const atLeastZero = (value: SQL) => sql`greatest(coalesce(${value}, 0), 0)`;
const input = atLeastZero(sql`${inputTokens}`);
const cacheRead = sql`least(${atLeastZero(sql`${cacheReadTokens}`)}, ${input})`;
const cacheWrite = sql`least(${atLeastZero(sql`${cacheWriteTokens}`)}, ${input} - ${cacheRead})`;

/**
 * The numbers of an event that comparisons use. Costs are computed from them with the same operations in SQL
 * and in JavaScript.
 */
export const comparedNumbers = {
  countedTokens: sql<
    number | null
  >`coalesce(${inputTokens} + ${outputTokens}, ${inputTokens}, ${outputTokens}, ${totalTokens})`,
  /** Null for an event without token counts, and for a tool call: it has no cost. */
  uncachedInput: sql<
    number | null
  >`CASE WHEN ${events.type} = 'llm' AND num_nonnulls(${inputTokens}, ${outputTokens}) > 0
    THEN ${input} - ${cacheRead} - ${cacheWrite} END`,
  cachedInput: sql<number>`${cacheRead}`,
  cachingInput: sql<number>`${cacheWrite}`,
  output: sql<number>`${atLeastZero(sql`${outputTokens}`)}`,
};

/** `countedTokens` of an event that was read. */
export function countTokensOf(
  row: Pick<typeof events.$inferSelect, 'inputTokens' | 'outputTokens' | 'totalTokens'>,
): number | null {
  if (row.inputTokens === null && row.outputTokens === null) return row.totalTokens;
  return (row.inputTokens ?? 0) + (row.outputTokens ?? 0);
}

/** The values of {@link comparedNumbers}. */
export interface ComparedNumbers {
  countedTokens: number | null;
  uncachedInput: number | null;
  cachedInput: number | null;
  cachingInput: number | null;
  output: number | null;
}

/** A cost is compared in millionths of a dollar, the unit of tokens times prices. */
const millionths = 1_000_000;

/** The condition in SQL. @param rates the prices, when costs are compared. */
export function matchComparison(
  { measure, operator, value }: Comparison,
  rates: readonly CostRate[] | undefined,
): SQL {
  const compare = sql.raw(operator);
  if (measure === 'duration') return sql`${events.durationMs} ${compare} ${value}::float8`;
  if (measure === 'tokens') return sql`${comparedNumbers.countedTokens} ${compare} ${value}::float8`;
  return sql`${costOf(rates)} ${compare} ${value * millionths}::float8`;
}

function costOf(rates: readonly CostRate[] | undefined): SQL {
  if (rates === undefined) throw new Error('costs are compared without prices');
  const { uncachedInput, cachedInput, cachingInput, output } = comparedNumbers;
  return sql`(
    SELECT ${uncachedInput} * rate."input" + ${cachedInput} * rate."cacheRead" + ${cachingInput} * rate."cacheWrite"
      + ${output} * rate."output"
    FROM json_to_recordset(${JSON.stringify(rates)}::json) AS rate(
      "model" text, "fromMs" float8, "toMs" float8, "input" float8, "cacheRead" float8, "cacheWrite" float8, "output" float8)
    WHERE rate."model" = ${events.name} AND ${startTimeMs} >= rate."fromMs" AND ${startTimeMs} < rate."toMs" LIMIT 1)`;
}

type ComparedRow = ComparedNumbers & { durationMs: number; name: string | null; startTimeMs: number };

/** The same condition on a row. */
export function compileComparison(
  { measure, operator, value }: Comparison,
  rates: readonly CostRate[] | undefined,
): (row: ComparedRow) => boolean {
  const numberOf = numbers[measure];
  const bound = measure === 'cost' ? value * millionths : value;
  const holds = tests[operator];
  return (row) => {
    const number = numberOf(row, rates);
    return number !== null && holds(number, bound);
  };
}

const tests: Record<Comparison['operator'], (number: number, bound: number) => boolean> = {
  '>': (number, bound) => number > bound,
  '>=': (number, bound) => number >= bound,
  '<': (number, bound) => number < bound,
  '<=': (number, bound) => number <= bound,
};

const numbers: Record<
  Comparison['measure'],
  (row: ComparedRow, rates: readonly CostRate[] | undefined) => number | null
> = {
  duration: ({ durationMs }) => durationMs,
  tokens: ({ countedTokens }) => countedTokens,
  cost: (row, rates = []) => {
    const rate = rates.find(
      ({ model, fromMs, toMs }) => model === row.name && row.startTimeMs >= fromMs && row.startTimeMs < toMs,
    );
    const { uncachedInput, cachedInput, cachingInput, output } = row;
    if (rate === undefined || uncachedInput === null) return null;
    return (
      uncachedInput * rate.input +
      (cachedInput ?? 0) * rate.cacheRead +
      (cachingInput ?? 0) * rate.cacheWrite +
      (output ?? 0) * rate.output
    );
  },
};
