import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  register,
} from '@prometheus-io/client';

/** Replaces a metric of the same name: tests evaluate modules repeatedly, and the library would throw. */
export function defineCounter<Label extends string>(options: CounterConfiguration<Label>): Counter<Label> {
  register.removeSingleMetric(options.name);
  return new Counter(options);
}

export function defineGauge<Label extends string>(options: GaugeConfiguration<Label>): Gauge<Label> {
  register.removeSingleMetric(options.name);
  return new Gauge(options);
}

export function defineHistogram<Label extends string>(
  options: HistogramConfiguration<Label>,
): Histogram<Label> {
  register.removeSingleMetric(options.name);
  return new Histogram(options);
}
