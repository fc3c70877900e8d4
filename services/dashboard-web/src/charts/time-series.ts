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
  /** The values are those of the period before: dashed, and not part of a stack. */
  isBefore?: boolean;
}

/** The edges of bars stacked from the bottom, the highest first: each is painted over by those below it. */
export function stackValues(series: readonly Values[]): number[][] {
  const edges: number[][] = [];
  for (const values of series) {
    const below = edges.at(-1);
    edges.push(values.map((value, bucket) => (value ?? 0) + (below?.[bucket] ?? 0)));
  }
  return edges.toReversed();
}

/** The buckets nearest to a drag, at least that in its middle: a drag rarely ends at a bucket's edge. */
export function snapToBuckets(
  starts: readonly number[],
  end: number,
  { from, to }: { from: number; to: number },
): { from: number; to: number } {
  const edges = [...starts, end];
  const nearest = (ms: number) =>
    edges.reduce((best, edge) => (Math.abs(edge - ms) < Math.abs(best - ms) ? edge : best), end);
  const snapped = { from: nearest(from), to: nearest(to) };
  if (snapped.from < snapped.to) return snapped;
  const place = Math.max(
    0,
    starts.findLastIndex((start) => start <= (from + to) / 2),
  );
  return { from: starts[place] ?? from, to: edges[place + 1] ?? end };
}

/** The places of values without a neighbour. */
export function findLonely(values: Values): number[] {
  const isGap = (place: number) => values[place] === null || values[place] === undefined;
  return values.flatMap((_, place) => (!isGap(place) && isGap(place - 1) && isGap(place + 1) ? [place] : []));
}
