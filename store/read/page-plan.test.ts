import { expect, test } from 'vitest';
import { choosePlan, type PageFacts, type PagePlan } from './page-plan.ts';

/** A filter by a name, before anything was read. */
const atStart: PageFacts = {
  hasConditions: true,
  terms: 1,
  isUsuallyRare: false,
  mayEndEarly: false,
  hasEnough: false,
  examined: 'none',
  hasManySegments: false,
  isLate: false,
};

const newest = { examined: 'newest' } as const;
const more = { examined: 'more' } as const;
const many = { hasManySegments: true };

test.each<[string, Partial<PageFacts>, PagePlan]>([
  ['no condition', { hasConditions: false, terms: 0 }, 'allInOrder'],
  ['a user', { isUsuallyRare: true }, 'fewSegments'],
  ['a user of many segments', { isUsuallyRare: true, ...many }, 'newestEvents'],
  ['a name', {}, 'newestEvents'],
  ['a text', { terms: 0 }, 'newestEvents'],
  ['a text, not in the newest events', { terms: 0, ...newest }, 'moreEvents'],
  ['a text, not in more events', { terms: 0, ...more }, 'end'],
  ['enough of the newest events', { mayEndEarly: true, hasEnough: true, ...newest }, 'moreEvents'],
  ['enough of more events', { mayEndEarly: true, hasEnough: true, ...more, ...many }, 'end'],
  ['a name, not in the newest events', newest, 'fewSegments'],
  ['a page that may end early', { mayEndEarly: true, ...newest, ...many }, 'moreEvents'],
  ['one that may not yet', { mayEndEarly: true, ...more, ...many }, 'segmentsInOrder'],
  ['a name in many segments', { ...newest, ...many }, 'segmentsInOrder'],
  ['a name, far behind', { ...newest, ...many, isLate: true }, 'moreEvents'],
  ['a name and a source, far behind', { terms: 2, ...newest, ...many, isLate: true }, 'listedSegments'],
  ['a name, far behind, not in more events', { ...more, ...many, isLate: true }, 'listedSegments'],
])('%s: the plan', (_, known, plan) => {
  expect(choosePlan({ ...atStart, ...known })).toBe(plan);
});
