import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { day } from '../../platform/instant.ts';
import { listPrice } from './list-price.ts';
import { readLiteLlm } from './litellm.ts';

const priceList = z.strictObject({
  /** Where the prices are from, shown beside them. */
  source: z.string().min(1).max(200),
  licence: z.string().max(200).optional(),
  /** The UTC day of the list. */
  day,
  prices: z.array(listPrice),
});

/** Prices that providers list on a day. */
export type PriceList = z.output<typeof priceList>;

/**
 * Reads a price list: Weir's format, or LiteLLM's `model_prices_and_context_window.json`.
 * @param day the day of a list that does not have one.
 * @throws Error with a public message when the text is no price list.
 */
export function parsePriceList(text: string, day: string): PriceList {
  const file: unknown = JSON.parse(text);
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    throw new Error('It is no JSON object.');
  if ('prices' in file) {
    const { data, error } = priceList.safeParse(file);
    if (data !== undefined) return data;
    const [issue] = error.issues;
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const prices = readLiteLlm({ ...file });
  if (prices.length === 0)
    throw new Error('It has no prices, neither in the format of Weir nor in that of LiteLLM.');
  return { source: 'LiteLLM, model_prices_and_context_window.json', licence: 'MIT', day, prices };
}

/** The list that comes with this version of Weir. */
export async function readShippedList(): Promise<PriceList> {
  const text = await readFile(new URL('shipped/list-prices.json', import.meta.url), 'utf8');
  return priceList.parse(JSON.parse(text));
}
