import { register } from '@prometheus-io/client';
import { expect, test } from 'vitest';
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
