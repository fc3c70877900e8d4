import type { ColorName } from './colors.ts';

/** Values at the starts of the chart's buckets; null where there is nothing to draw. */
export type Values = readonly (number | null)[];

export interface TimeSeries {
  label: string;
  color: ColorName;
  /** At the starts of the buckets. */
  values: Values;
}

/**
 * The upper edges of stacked bars, the highest stack first: each is painted over by those below it.
 *
 * @param series from the bottom of the stack to its top.
 */
export function stackValues(series: readonly Values[]): number[][] {
  const edges: number[][] = [];
  for (const values of series) {
    const below = edges.at(-1);
    edges.push(values.map((value, bucket) => (value ?? 0) + (below?.[bucket] ?? 0)));
  }
  return edges.toReversed();
}
