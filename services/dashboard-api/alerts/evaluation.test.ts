import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CostSum } from '../../../store/prices/cost-sum.ts';
import { isPublicAddress } from './addresses.ts';
import { type AlertState, type Bucket, evaluate, type Series } from './evaluation.ts';
import { describeAlert, slackBody } from './message.ts';
import type { AlertCondition } from './rule.ts';

const minuteMs = 60_000;
const ok: AlertState = { phase: 'ok', sinceMs: 0 };
const rule: AlertCondition = {
  kind: 'error_rate',
  filter: {},
  comparison: 'above',
  bound: 10,
  windowMinutes: 5,
  holdMinutes: 3,
};
const bucket = (events: number, errors = 0): Bucket => ({
  events,
  errors,
  tokens: events * 10,
  cost: costOf(String(events)),
});
const noTokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
function costOf(reportedCost: string | null, inputTokens = 0): CostSum {
  const sum = new CostSum();
  sum.add({ ...noTokens, inputTokens, reportedCost }, undefined);
  return sum;
}
const seriesOf = (buckets: (Bucket | undefined)[], startMs = 0): Series => ({
  startMs,
  stepMs: minuteMs,
  buckets,
});
const run = (condition: AlertCondition, buckets: (Bucket | undefined)[], state = ok) =>
  evaluate(condition, state, { series: seriesOf(buckets), afterMs: 0 });
const repeat = (times: number, one: Bucket | undefined) => Array.from({ length: times }, () => one);

test('an alert fires when its condition has held, and resolves when it is clearly over for as long', async () => {
  const { transitions, state } = await run(rule, [
    ...repeat(10, bucket(10)),
    ...repeat(10, bucket(10, 5)),
    ...repeat(10, bucket(10)),
  ]);
  // 5 of 50 errors is not above 10%; from minute 12 on the window has 10, and three minutes later it fires.
  expect(transitions).toEqual([
    { change: 'fired', atMs: 15 * minuteMs, value: 50 },
    // The last error leaves the window at minute 25.
    { change: 'resolved', atMs: 28 * minuteMs, value: 0 },
  ]);
  expect(state).toEqual({ phase: 'ok', sinceMs: 28 * minuteMs });
});

test('a short peak does not fire, and values around the bound do not flap', async () => {
  const events: AlertCondition = { ...rule, kind: 'events', bound: 50 };
  expect(
    await run({ ...events, holdMinutes: 6 }, [
      ...repeat(5, bucket(10)),
      bucket(60),
      ...repeat(9, bucket(10)),
    ]),
  ).toMatchObject({
    transitions: [],
    state: { phase: 'ok' },
  });
  // Sums of five minutes between 49 and 51.
  const around = Array.from({ length: 60 }, (_, minute) =>
    bucket(minute % 5 === 0 ? 12 - (minute % 2) * 2 : 10),
  );
  const { transitions } = await run({ ...events, holdMinutes: 0 }, around);
  expect(transitions.map(({ change }) => change)).toEqual(['fired']);
});

test('costs are added and compared as decimals, and a message says that some tokens have no price', async () => {
  const cost: AlertCondition = { ...rule, kind: 'cost', bound: 0.3, holdMinutes: 0 };
  const dimes = [1, 2, 3].map(() => ({ ...bucket(0), cost: costOf('0.1') }));
  // As floats the sum is 0.30000000000000004.
  expect(await run(cost, [...dimes, ...repeat(2, undefined)])).toMatchObject({ transitions: [], value: 0.3 });
  const least = { ...bucket(0), cost: costOf('0.000000000001') };
  const unpriced = { ...bucket(0), cost: costOf(null, 7) };
  const { transitions } = await run(cost, [...dimes, least, unpriced]);
  expect(transitions).toMatchObject([
    { change: 'fired', cost: { cost: '0.300000000001', bound: 'at_least' } },
  ]);
  expect(await run(cost, [unpriced, ...repeat(4, undefined)])).toMatchObject({ value: null });
});

test('no event for a time fires at once, and the next event resolves it', async () => {
  const silence: AlertCondition = { ...rule, kind: 'silence', holdMinutes: 0 };
  const { transitions } = await run(silence, [bucket(1), ...repeat(7, undefined), bucket(1)]);
  expect(transitions).toEqual([
    { change: 'fired', atMs: 6 * minuteMs, value: 0 },
    { change: 'resolved', atMs: 9 * minuteMs, value: 1 },
  ]);
});

test('an error rate without events has no value, and resolves', async () => {
  const { transitions, value } = await run(rule, [...repeat(10, bucket(10, 10)), ...repeat(12, undefined)]);
  expect(transitions.map(({ change }) => change)).toEqual(['fired', 'resolved']);
  expect(value).toBeNull();
});

test('windows that are caught up in one go have the outcome of windows evaluated one by one', async () => {
  const buckets = fc.array(
    fc.option(fc.record({ events: fc.nat(20), errors: fc.nat(5) }), { nil: undefined }),
    { minLength: 5, maxLength: 80 },
  );
  const conditions = fc.record({
    kind: fc.constantFrom('error_rate' as const, 'events' as const, 'silence' as const, 'cost' as const),
    comparison: fc.constantFrom('above' as const, 'below' as const),
    bound: fc.nat(60),
    holdMinutes: fc.nat(6),
  });
  await fc.assert(
    fc.asyncProperty(buckets, conditions, async (sums, change) => {
      const condition = { ...rule, ...change };
      const all = sums.map((one) => one && bucket(one.events, one.errors));
      const whole = await run(condition, all);
      let state = ok;
      const steps = [];
      for (let end = 5; end <= all.length; end++) {
        const series = seriesOf(all.slice(end - 5, end), (end - 5) * minuteMs);
        const step = await evaluate(condition, state, { series, afterMs: (end - 1) * minuteMs });
        state = step.state;
        steps.push(...step.transitions);
      }
      expect(steps).toEqual(whole.transitions);
      expect(state).toEqual(whole.state);
      // Changes alternate, so nothing is reported twice.
      expect(
        steps.every(({ change: made }, index) => made === (index % 2 === 0 ? 'fired' : 'resolved')),
      ).toBe(true);
    }),
  );
});

test('only addresses on the public internet are public', () => {
  const open = ['1.1.1.1', '172.32.0.1', '2606:4700:4700::1111'];
  const closed = [
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...[
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
    ],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001:db8::1', 'ff02::1', 'localhost', ''],
  ];
  expect([...open, ...closed].filter(isPublicAddress)).toEqual(open);
});

test('a message names the rule and its numbers, and Slack reads none of it as markup', () => {
  const message = {
    change: 'fired',
    space: { id: '1', name: 'Shop' },
    rule: { ...rule, id: '2', name: '<!channel> errors & more', filter: { name: 'gpt-4o' } },
    value: 12.345_6,
    at: '2026-11-23T00:00:00.000Z',
    link: null,
  } as const;
  expect(describeAlert(message)).toBe(
    'Firing: <!channel> errors & more – error rate 12.35%, threshold: above 10% (5 minutes), gpt-4o, in Shop',
  );
  const cost = { ...message.rule, kind: 'cost', filter: {}, bound: 5 } as const;
  expect(describeAlert({ ...message, rule: cost, valueBound: 'at_least' })).toContain(
    '– cost at least $12.35',
  );
  expect(JSON.parse(slackBody(message)).text).toContain('&lt;!channel&gt; errors &amp; more');
});
