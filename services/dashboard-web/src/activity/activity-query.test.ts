import { expect, test } from 'vitest';
import { readActivityQuery } from './activity-query.ts';

test('comparisons and a model are read from the search of threads and users, and the other words are searched for', () => {
  expect(readActivityQuery('mia errors:>0 cost:<=$1.5 tokens:>10k model:"gpt 4o" smith')).toEqual({
    search: 'mia smith',
    model: 'gpt 4o',
    comparisons: [
      { measure: 'errors', operator: '>', value: 0 },
      { measure: 'cost', operator: '<=', value: 1.5 },
      { measure: 'tokens', operator: '>', value: 10_000 },
    ],
  });
  expect(readActivityQuery('urn:a:b')).toEqual({ search: 'urn:a:b' });
  expect(readActivityQuery('events:many')).toContain('Write events:>10');
});
