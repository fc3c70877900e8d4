import { Counter, Gauge, Histogram } from '@prometheus-io/client';

/**
 * Loaded before a service by `npm run bench -- --without-metrics`: updates of metrics do nothing, so that two
 * runs side by side show what they cost. Counters that are plain additions
 * (platform/metrics/bound-counter.ts) stay.
 */
const nothing = () => {};
const child = { inc: nothing, dec: nothing, set: nothing, observe: nothing, startTimer: () => nothing };
const off = { ...child, incWithoutExemplar: nothing, observeWithoutExemplar: nothing, labels: () => child };
for (const { prototype } of [Counter, Gauge, Histogram]) Object.assign(prototype, off);
