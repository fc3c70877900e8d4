import { expect, test } from 'vitest';
import { ByteBudgets } from './byte-budget.ts';

/** Takes single bytes until none is given. @returns how many. */
function takeAll(budgets: ByteBudgets, spaceId: string): number {
  let taken = 0;
  while (budgets.of(spaceId).take(1)) taken += 1;
  return taken;
}

test('one space alone can take three quarters of the bytes', () => {
  const budgets = new ByteBudgets(100);
  expect(budgets.of('greedy').take(76)).toBe(false);
  expect(budgets.of('greedy').take(75)).toBe(true);
  expect(budgets.of('greedy').take(1)).toBe(false);
  budgets.of('greedy').release(75);
  expect(budgets.of('other').take(75)).toBe(true);
});

test('beside several spaces that take all they can a newcomer finds bytes, soon as many as they have', () => {
  const budgets = new ByteBudgets(10_000);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const held = new Map(names.map((name) => [name, takeAll(budgets, name)]));
  expect(held.get('e')).toBeGreaterThan(0);
  expect(budgets.usedBytes).toBeLessThan(10_000);
  // Requests end, and the spaces send more.
  for (let times = 0; times < 50; times++)
    for (const [name, bytes] of held) {
      budgets.of(name).release(bytes);
      held.set(name, takeAll(budgets, name));
    }
  const share = Math.floor((3 * 10_000) / 16);
  for (const bytes of held.values()) expect(Math.abs(bytes - share)).toBeLessThan(share / 100);
  expect(takeAll(budgets, 'newcomer')).toBeGreaterThan(share / 4 - 10);
});

test('while one space takes all it can, another can take an eighth of the bytes', () => {
  const budgets = new ByteBudgets(10_000);
  takeAll(budgets, 'greedy');
  expect(budgets.of('other').take(1_250)).toBe(true);
});

test('releasing more than was taken throws', () => {
  const budgets = new ByteBudgets(100);
  budgets.of('other').take(50);
  expect(() => budgets.of('space').release(1)).toThrow('more bytes released than taken');
});
