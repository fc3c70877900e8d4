import type { Search } from '../url/search.ts';
import type { ColorName } from './colors.ts';

/** Values at the starts of the chart's buckets; null where there is none. */
export type Values = readonly (number | null)[];

export interface TimeSeries {
  label: string;
  color: ColorName;
  /** At the starts of the buckets. */
  values: Values;
  /** The filter that lists its events; undefined when there is none. */
  events?: Search | undefined;
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

/** The places of values without a neighbour. */
export function findLonely(values: Values): number[] {
  const isGap = (place: number) => values[place] === null || values[place] === undefined;
  return values.flatMap((_, place) => (!isGap(place) && isGap(place - 1) && isGap(place + 1) ? [place] : []));
}
