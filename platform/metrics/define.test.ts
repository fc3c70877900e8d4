import { register } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { defineBoundCounters } from './bound-counter.ts';
import { defineCounter, defineGauge, defineHistogram } from './define.ts';

test('a metric that is defined again replaces the one before', async () => {
  const options = { name: 'weir_test_defined_twice', help: 'Of this test.' };
  for (const define of [defineCounter, defineGauge, defineHistogram]) {
    define(options);
    const second = define(options);
    expect(register.getSingleMetric(options.name)).toBe(second);
  }
  register.removeSingleMetric(options.name);
});

test('a bound counter is shown with its series from the start, and counts what was added at each scrape', async () => {
  const name = 'weir_test_bound_total';
  const counters = defineBoundCounters({ name, help: 'Of this test.', labelNames: ['kind'] });
  const [one, other] = [counters.bind({ kind: 'one' }), counters.bind({ kind: 'other' })];
  const values = async () =>
    (await register.getSingleMetric(name)?.get())?.values.map(({ labels, value }) => [labels.kind, value]);
  expect(await values()).toEqual([
    ['one', 0],
    ['other', 0],
  ]);
  one.add(2);
  one.add(3);
  other.add(1);
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await values()).toEqual([
      ['one', 5],
      ['other', 1],
    ]);
  register.removeSingleMetric(name);
});
