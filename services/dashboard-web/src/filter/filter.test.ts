import { expect, test } from 'vitest';
import { formatSearch, parseSearch } from '../url/search.ts';
import { readConditions, withCondition, withoutCondition, withoutFilter } from './conditions.ts';
import { toEventFilter } from './event-filter.ts';
import { withFixedTimes } from './time-range.ts';

test('an address becomes the filter of the API, ids of any digits included', () => {
  const search = parseSearch(
    '?userId=723421968459640832&type=tool&attr.plan=pro&not.name=gpt-4o&minDurationMs=1.5&peek=x',
  );
  expect(toEventFilter(search, 0)).toEqual({
    type: 'tool',
    userId: '723421968459640832',
    attributes: [{ key: 'plan', value: 'pro' }],
    not: [{ column: 'name', value: 'gpt-4o' }],
    minDurationMs: 1.5,
  });
});

test('a range that ends now begins that long before', () => {
  expect(toEventFilter({ last: '1h' }, 10_000_000)).toEqual({ from: 6_400_000 });
  expect(toEventFilter({ last: 'constructor' }, 0)).toEqual({});
});

test('a link with fixed times shows later what a range that ends now shows now', () => {
  const fix = (search: Record<string, string>) => withFixedTimes(search, 10_000_000, 'UTC');
  expect(fix({ last: '1h', 'not.name': 'a\u001fb' })).toEqual({
    ...{ from: '6400000', to: '10000000' },
    'not.name': 'a\u001fb',
  });
  expect(fix({ state: 'error' })).toEqual({ state: 'error', to: '10000000' });
  expect(fix({ from: '1', to: '2' })).toEqual({ from: '1', to: '2' });
  expect(fix({ last: 'today' })).toEqual({ from: '0', to: '10000000' });
});

test.for([
  ['type', 'lama'],
  ['state', 'fine'],
  ['traceId', '17'],
])('a %s that no event can have is explained, not sent', ([field, value]) => {
  expect(toEventFilter({ [field as string]: value as string }, 0)).toContain(value);
});

test('a condition replaces the one of the same field, and others stay', () => {
  const search = { name: 'a', userId: 'u', peek: '1' };
  const excluded = withCondition(search, { field: 'name', value: 'b', isExcluded: true });
  expect(excluded).toEqual({ userId: 'u', peek: '1', 'not.name': 'b' });
  const [condition] = readConditions(excluded);
  expect(condition && withoutCondition(excluded, condition)).toEqual({ userId: 'u', peek: '1' });
  expect(withoutFilter(excluded)).toEqual({ peek: '1' });
});

test('excluded values of a field are added to each other, in the address, too', () => {
  const [a, b] = ['a', 'b'].map((value) => ({ field: 'name', value, isExcluded: true }));
  const both = [a, b, a].reduce((search, one) => (one ? withCondition(search, one) : search), {});
  const address = formatSearch(both);
  expect(address).toBe('?not.name=a&not.name=b');
  expect(readConditions(parseSearch(address))).toEqual([a, b]);
  expect(toEventFilter(both, 0)).toMatchObject({ not: [{ value: 'a' }, { value: 'b' }] });
  expect(a && formatSearch(withoutCondition(both, a))).toBe('?not.name=b');
});

test.each([
  ['duration', '>10s', [['>', 10_000]]],
  ['duration', '<=1.5m', [['<=', 90_000]]],
  [
    'duration',
    '500ms..2s',
    [
      ['>=', 500],
      ['<=', 2_000],
    ],
  ],
  ['tokens', '>50k', [['>', 50_000]]],
  ['tokens', '>=1M', [['>=', 1_000_000]]],
  ['cost', '>0.1', [['>', 0.1]]],
  ['cost', '<$.5', [['<', 0.5]]],
] as const)('%s:%s is a comparison of the API', (measure, text, expected) => {
  const comparisons = expected.map(([operator, value]) => ({ measure, operator, value }));
  expect(toEventFilter({ [measure]: text }, 0)).toEqual({ comparisons });
});

test.each([
  ['duration', '10s'],
  ['duration', '>10k'],
  ['cost', '>a'],
  ['tokens', '1..2..3'],
  ['tokens', '>'],
])('%s:%s is explained, not sent', (measure, text) => {
  expect(toEventFilter({ [measure]: text }, 0)).toContain(`“${text}” is not a comparison`);
});
