/** Exact decimals: amounts of money are never binary floating-point numbers. */

/** Digits after the decimal point of a price, in US dollars per million tokens. */
export const priceDecimals = 6;

/** Digits after the decimal point of a cost: a price is per million tokens, so a cost has six more. */
const costDecimals = priceDecimals + 6;

/** Digits before the decimal point of a price. */
const wholeDigitsMax = 9;

const shape = new RegExp(`^\\d{1,${wholeDigitsMax}}(\\.\\d{1,${priceDecimals}})?$`);

/** Whether a text is a price: digits, at most 9 before the decimal point and 6 after it. */
export function isPrice(text: string): boolean {
  return shape.test(text);
}

/** A price in units of 10^-12 dollars for each token. @param price a text that {@link isPrice}, in dollars per million tokens. */
export function unitsOf(price: string): bigint {
  const [whole = '0', decimals = ''] = price.split('.');
  return BigInt(whole + decimals.slice(0, priceDecimals).padEnd(priceDecimals, '0'));
}

/** A cost in dollars as a decimal, without trailing zeros: `0.0125`. */
export function formatCost(units: bigint): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(costDecimals + 1, '0');
  const decimals = digits.slice(-costDecimals).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -costDecimals)}${decimals === '' ? '' : `.${decimals}`}`;
}
