import { costDecimals } from '../../event/usage/reported-cost.ts';

/** Exact decimals: amounts of money are never binary floating-point numbers. */

/** Digits after the decimal point of a price, in US dollars per million tokens. */
export const priceDecimals = 6;

/** A factor of 1 in the units of {@link unitsOf}. */
export const priceScale = 10n ** BigInt(priceDecimals);

/** Digits before the decimal point of a price. */
const wholeDigitsMax = 9;

const shape = new RegExp(`^\\d{1,${wholeDigitsMax}}(\\.\\d{1,${priceDecimals}})?$`);

/** Whether a text is a price: digits, at most 9 before the decimal point and 6 after it. */
export function isPrice(text: string): boolean {
  return shape.test(text);
}

/** A price in 10^-12 dollars a token. @param price a text that {@link isPrice}, in dollars a million. */
export function unitsOf(price: string): bigint {
  const [whole = '0', decimals = ''] = price.split('.');
  return BigInt(whole + decimals.slice(0, priceDecimals).padEnd(priceDecimals, '0'));
}

/** The units of 10^-12 dollars of a cost, the inverse of {@link formatCost}. */
export function unitsOfCost(cost: string): bigint {
  const [whole = '0', decimals = ''] = cost.split('.');
  return BigInt(whole + decimals.slice(0, costDecimals).padEnd(costDecimals, '0'));
}

/** A cost in dollars as a decimal, without trailing zeros: `0.0125`. */
export function formatCost(units: bigint): string {
  return formatDecimal(units, costDecimals);
}

/** The price of {@link unitsOf} in dollars per million tokens, without trailing zeros. */
export function formatPrice(units: bigint): string {
  return formatDecimal(units, priceDecimals);
}

function formatDecimal(units: bigint, places: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const decimals = digits.slice(-places).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -places)}${decimals === '' ? '' : `.${decimals}`}`;
}
