import { expect, test } from 'vitest';
import { ByteBudgets } from './byte-budget.ts';

test('one space can take three quarters of the bytes, and all spaces together no more than all', () => {
  const budgets = new ByteBudgets(100);
  const [greedy, other] = [budgets.of('greedy'), budgets.of('other')];
  expect(greedy.take(75)).toBe(true);
  expect(budgets.of('greedy').take(1)).toBe(false);
  expect(other.take(26)).toBe(false);
  expect(other.take(25)).toBe(true);
  greedy.release(75);
  expect(other.take(50)).toBe(true);
  expect(greedy.take(25)).toBe(true);
});

test('releasing more than was taken throws', () => {
  const budgets = new ByteBudgets(100);
  budgets.of('other').take(50);
  expect(() => budgets.of('space').release(1)).toThrow('more bytes released than taken');
});
