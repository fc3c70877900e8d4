import type { Output } from '../../api/query.ts';

export type Price = Output<'prices.list'>[number];
export type UsedModel = Output<'prices.models'>[number];

/** Dollars per million tokens. */
export type Amounts = Pick<Price, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'rates'>;

/** The same while they are typed: rates as `input batch = 1.25, audioInput = 40`. */
export type AmountTexts = Record<keyof Amounts, string>;

export const noAmounts: AmountTexts = { input: '', output: '', cacheRead: '', cacheWrite: '', rates: '' };

export const kinds = [
  { kind: 'input', label: 'Input', isRequired: true },
  { kind: 'output', label: 'Output', isRequired: true },
  { kind: 'cacheRead', label: 'Cache read', isRequired: false },
  { kind: 'cacheWrite', label: 'Cache write', isRequired: false },
] as const;

/** The queries that a change of prices makes out of date. */
export const pricesChanged = {
  reload: ['prices.list', 'prices.models', 'charts.costs', 'events.get'],
} as const;

/** The typed amounts; undefined while one is missing or no price. */
export function toAmounts({
  input,
  output,
  cacheRead,
  cacheWrite,
  ...texts
}: AmountTexts): Amounts | undefined {
  const isPrice = [input, output].every(isPriceText);
  const isCachePrice = [cacheRead, cacheWrite].every((text) => text === '' || isPriceText(text));
  const rates = readRates(texts.rates);
  if (!isPrice || !isCachePrice || rates === undefined) return undefined;
  return { input, output, cacheRead: cacheRead || null, cacheWrite: cacheWrite || null, rates };
}

/** The rates of a text such as `input batch = 1.25, audioInput = 40`; undefined when it is none. */
export function readRates(text: string): Record<string, string> | undefined {
  const entries = text.split(',').filter((part) => part.trim() !== '');
  const rates = entries.map((entry) => entry.split('=').map((part) => part.trim().replaceAll(/\s+/g, ' ')));
  const isRate = ([key, price, ...more]: string[]) => key && price && isPriceText(price) && more.length === 0;
  return rates.every(isRate) ? Object.fromEntries(rates) : undefined;
}

export function writeRates(rates: Readonly<Record<string, string>>): string {
  return Object.entries(rates)
    .map(([key, price]) => `${key} = ${price}`)
    .join(', ');
}

/** The first day of a price that applies to all time. */
export const allTime = '1970-01-01';

/** Whether a text is a price as the API takes it: dollars per million tokens. */
export function isPriceText(text: string): boolean {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text);
}

/** The price of a model on a day: the space's latest, or else the operator's latest. */
export function priceOn(prices: readonly Price[], model: string, day: string): Price | undefined {
  const valid = prices
    .filter((price) => price.model === model && price.validFrom <= day)
    .toSorted((a, b) => a.validFrom.localeCompare(b.validFrom));
  return valid.findLast(({ spaceId }) => spaceId !== null) ?? valid.at(-1);
}
