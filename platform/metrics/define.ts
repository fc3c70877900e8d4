import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  register,
} from '@prometheus-io/client';

/**
 * Metrics of the process, by name. One that is defined again replaces the one before: modules are evaluated
 * more than once in a process that runs several tests or services, and the library throws then.
 */
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
