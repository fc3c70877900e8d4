import { LatencySketch } from '../../../event/latency-sketch.ts';

/**
 * A quantile of the durations in stored sketches together, in milliseconds, within 5 %.
 * @param quantile 0 to 1. @returns undefined when nothing was counted.
 */
export function latencyQuantile(
  sketches: Iterable<readonly bigint[] | readonly number[]>,
  quantile: number,
): number | undefined {
  const sum = new LatencySketch();
  for (const sketch of sketches) for (const element of sketch) sum.add(Number(element));
  return sum.quantiles([quantile])[0];
}
