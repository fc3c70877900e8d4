import { type SQL, sql } from 'drizzle-orm';
import { costDecimals } from '../../../event/usage/reported-cost.ts';
import { type UsagePart, type UsageParts, usagePartNames } from '../../../event/usage/usage-parts.ts';
import { events } from '../../db/schema.ts';
import { unitsOfCost } from '../../prices/decimal.ts';

/** What events can be compared by: the duration in milliseconds, the tokens, the cost in US dollars. */
export const measures = ['duration', 'tokens', 'cost'] as const;
export const operators = ['>', '>=', '<', '<='] as const;

/** A condition on a number of an event. Events without the number do not match. */
export interface Comparison {
  readonly measure: (typeof measures)[number];
  readonly operator: (typeof operators)[number];
  readonly value: number;
}

/**
 * The prices of a model and a price class for events that start in a span of time (`toMs` is excluded): units
 * of 10^-12 dollars for each token, as decimals, since JSON has no integers of this size.
 */
export interface CostRate {
  readonly model: string;
  readonly priceClass: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly input: string;
  readonly cacheRead: string;
  readonly cacheWrite: string;
  readonly output: string;
  /** What a part of the usage costs beyond the count that it is within. */
  readonly parts: UsagePartRates;
}
type UsagePartRates = Readonly<Record<UsagePart, string>>;

const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, startTimeMs } = events;
const { usageParts, priceClass, reportedCost } = events;

// As Math.round does: clients of 0.1.0 could store fractions.
const atLeastZero = (value: SQL) => sql`greatest(floor(coalesce(${value}, 0) + 0.5), 0)`;
const input = atLeastZero(sql`${inputTokens}`);
const cacheRead = sql`least(${atLeastZero(sql`${cacheReadTokens}`)}, ${input})`;
const cacheWrite = sql`least(${atLeastZero(sql`${cacheWriteTokens}`)}, ${input} - ${cacheRead})`;

/** Numbers of an event for comparisons. SQL and JavaScript compute costs from them by the same operations. */
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
  usageParts: sql<UsageParts | null>`${usageParts}`,
  priceClass: sql<string | null>`${priceClass}`,
  reportedCost: sql<string | null>`${reportedCost}`,
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
  usageParts: UsageParts | null;
  priceClass: string | null;
  reportedCost: string | null;
}

/** The condition in SQL. @param rates the prices, when costs are compared. */
export function matchComparison(
  { measure, operator, value }: Comparison,
  rates: readonly CostRate[] | undefined,
): SQL {
  const compare = sql.raw(operator);
  if (measure === 'duration') return sql`${events.durationMs} ${compare} ${value}::float8`;
  if (measure === 'tokens') return sql`${comparedNumbers.countedTokens} ${compare} ${value}::float8`;
  return sql`${costOf(rates)} ${compare} ${String(boundOf(value))}::numeric`;
}

/** A bound in units of 10^-12 dollars. Beyond what {@link Number.toFixed} writes as a decimal no cost is. */
function boundOf(dollars: number): bigint {
  return unitsOfCost(Math.min(Math.max(dollars, -1e20), 1e20).toFixed(costDecimals));
}

/** Exact, in units of 10^-12 dollars. */
function costOf(rates: readonly CostRate[] | undefined): SQL {
  if (rates === undefined) throw new Error('costs are compared without prices');
  const { uncachedInput, cachedInput, cachingInput, output } = comparedNumbers;
  const at = (count: SQL, price: string) => sql`(${count})::numeric * rate.${sql.identifier(price)}`;
  return sql`coalesce(${reportedCost} * 1e12, (
    SELECT ${at(uncachedInput, 'input')} + ${at(cachedInput, 'cacheRead')} + ${at(cachingInput, 'cacheWrite')} + ${at(output, 'output')}
      + coalesce((SELECT sum(part.value::numeric * (rate."parts" ->> part.key)::numeric) FROM json_each_text(${usageParts}) AS part), 0)
    FROM json_to_recordset(${JSON.stringify(rates)}::json) AS rate("model" text, "priceClass" text, "fromMs" float8, "toMs" float8,
      "input" numeric, "cacheRead" numeric, "cacheWrite" numeric, "output" numeric, "parts" json)
    WHERE rate."model" = ${events.name} AND rate."priceClass" = coalesce(${priceClass}, '')
      AND ${startTimeMs} >= rate."fromMs" AND ${startTimeMs} < rate."toMs" LIMIT 1))`;
}

type ComparedRow = ComparedNumbers & { durationMs: number; name: string | null; startTimeMs: number };

/** A comparison as a condition on a row, with the same result as in SQL. */
export function compileComparison(
  { measure, operator, value }: Comparison,
  rates: readonly CostRate[] | undefined,
): (row: ComparedRow) => boolean {
  const numberOf = numbers[measure];
  const bound = measure === 'cost' ? boundOf(value) : value;
  const holds = tests[operator];
  return (row) => {
    const number = numberOf(row, rates);
    return number !== null && holds(number, bound);
  };
}

type Compared = number | bigint;
const tests: Record<Comparison['operator'], (number: Compared, bound: Compared) => boolean> = {
  '>': (number, bound) => number > bound,
  '>=': (number, bound) => number >= bound,
  '<': (number, bound) => number < bound,
  '<=': (number, bound) => number <= bound,
};

const numbers: Record<
  Comparison['measure'],
  (row: ComparedRow, rates: readonly CostRate[] | undefined) => Compared | null
> = {
  duration: ({ durationMs }) => durationMs,
  tokens: ({ countedTokens }) => countedTokens,
  cost: (row, rates = []) => {
    if (row.reportedCost !== null) return unitsOfCost(row.reportedCost);
    const rate = rates.find(
      ({ model, priceClass, fromMs, toMs }) =>
        model === row.name &&
        priceClass === (row.priceClass ?? '') &&
        row.startTimeMs >= fromMs &&
        row.startTimeMs < toMs,
    );
    const { uncachedInput, cachedInput, cachingInput, output } = row;
    if (rate === undefined || uncachedInput === null) return null;
    const at = (count: number | null, price: string) => BigInt(count ?? 0) * BigInt(price);
    const whole =
      at(uncachedInput, rate.input) +
      at(cachedInput, rate.cacheRead) +
      at(cachingInput, rate.cacheWrite) +
      at(output, rate.output);
    const { parts } = rate;
    return usagePartNames.reduce((sum, part) => sum + at(row.usageParts?.[part] ?? 0, parts[part]), whole);
  },
};
