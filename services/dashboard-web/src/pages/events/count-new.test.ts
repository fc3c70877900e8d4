import { expect, test } from 'vitest';
import { countNew } from './count-new.ts';

const at = (startTimeMs: number) => ({ id: `event-${startTimeMs}`, startTimeMs });

test('an event is new when the list does not show it, once, and when it is not on a later page', () => {
  const shown = [at(30), at(20), at(10)];
  const others = [at(40), at(40), at(30), at(25), at(5)];
  expect(countNew(shown, { isWhole: false, others })).toBe(2);
  // Without later pages it belongs to the end of this list.
  expect(countNew(shown, { isWhole: true, others })).toBe(3);
  expect(countNew([], { isWhole: true, others })).toBe(4);
});
