import type { CounterConfiguration, LabelValues } from '@prometheus-io/client';
import { defineCounter } from './define.ts';

/** One series of a counter. An update is an addition: nothing is allocated or looked up. */
export interface BoundCounter {
  add(count: number): void;
}

/**
 * Binds series once, for updates of every request: the client library would build a text of labels for each
 * update; here only a scrape does.
 */
export function defineBoundCounters<Label extends string>(
  options: Omit<CounterConfiguration<Label>, 'collect'>,
) {
  const series: { labels: LabelValues<Label>; count: number }[] = [];
  defineCounter({
    ...options,
    collect() {
      this.reset();
      for (const { labels, count } of series) this.inc(labels, count);
    },
  });
  return {
    /** Shows a series from now on: rate() misses the first increment of a counter that did not exist. */
    bind(labels: LabelValues<Label>): BoundCounter {
      const one = { labels, count: 0 };
      series.push(one);
      return {
        add: (count) => {
          one.count += count;
        },
      };
    },
  };
}
