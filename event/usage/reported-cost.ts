/** Digits after the decimal point of a cost in US dollars. */
export const costDecimals = 12;

/** Far beyond the cost of any call. Sums of such costs are exact in Postgres. */
const costMax = 1e12;

/**
 * The cost in US dollars that a sender reports as `{ total, currency: 'USD' }`, a decimal. Undefined for
 * other currencies, and for 0 and less: senders report 0 for an unknown price.
 */
export function reportedCostOf(cost: unknown): string | undefined {
  if (typeof cost !== 'object' || cost === null) return undefined;
  const { total, currency } = cost as { total?: unknown; currency?: unknown };
  if (typeof total !== 'number' || !(total > 0 && total < costMax)) return undefined;
  if (typeof currency !== 'string' || currency.toUpperCase() !== 'USD') return undefined;
  const decimal = total.toFixed(costDecimals);
  return Number(decimal) === 0 ? undefined : decimal.replace(/\.?0+$/, '');
}
