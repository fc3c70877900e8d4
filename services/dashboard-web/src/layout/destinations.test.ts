import { expect, test } from 'vitest';
import { matchLabels } from './destinations.ts';

const items = ['Events', 'Usage & plan', 'API keys'].map((label) => ({ key: label, label, go: () => {} }));
const found = (query: string) => matchLabels(items, query).map(({ label }) => label);

test('a query finds the labels that have all of its words, in any order and case', () => {
  expect(found('')).toEqual(['Events', 'Usage & plan', 'API keys']);
  expect(found('  PLAN usage ')).toEqual(['Usage & plan']);
  expect(found('e')).toEqual(['Events', 'Usage & plan', 'API keys']);
  expect(found('events plan')).toEqual([]);
});
