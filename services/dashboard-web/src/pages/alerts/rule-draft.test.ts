import { expect, test } from 'vitest';
import { conditionOf, draftFrom } from './rule-draft.ts';

test('an alert made from a filter watches its first condition that alerts have, and names the others', () => {
  const { draft, leftOut } = draftFrom({ state: 'error', name: 'gpt-4o', userId: 'mia', 'not.source': 's' });
  expect(conditionOf(draft)).toMatchObject({ kind: 'error_rate', filter: { name: 'gpt-4o' } });
  expect(draft.name).toBe('Error rate of gpt-4o');
  expect(leftOut.map(({ field }) => field)).toEqual(['source', 'userId']);
  expect(conditionOf(draftFrom({ 'attr.plan': 'pro' }).draft)?.filter).toEqual({
    attributeKey: 'plan',
    attributeValue: 'pro',
  });
  expect(conditionOf(draftFrom({}).draft)?.filter).toEqual({});
});
