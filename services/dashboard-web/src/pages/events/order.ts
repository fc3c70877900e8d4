/** The orders of the list, by their name in the address. */
export const orders = {
  duration: { label: 'Slowest first', superlative: 'slowest' },
  tokens: { label: 'Most tokens first', superlative: 'largest' },
  cost: { label: 'Most expensive first', superlative: 'most expensive' },
} as const;

export type Order = keyof typeof orders;

/** @returns undefined for the order of time. */
export function readOrder(text: string | undefined): Order | undefined {
  return text !== undefined && Object.hasOwn(orders, text) ? (text as Order) : undefined;
}
