import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { holdBuffer } from './budgeted-buffer.ts';
import { ByteBudgets } from './byte-budget.ts';

const isDetached = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached;

test('a buffer counts against the budget until it is disposed, and is freed then', async () => {
  const budget = new ByteBudgets(100).of('space');
  const held = holdBuffer(Buffer.allocUnsafeSlow(50), budget);
  expect(budget.take(26)).toBe(false);
  held[Symbol.dispose]();
  expect(budget.take(75)).toBe(true);
  await nextTurn();
  expect(isDetached(held.bytes)).toBe(true);
});

test('a buffer that does not fit is freed, and nothing of it is counted', async () => {
  const budget = new ByteBudgets(100).of('space');
  const bytes = Buffer.allocUnsafeSlow(76);
  expect(() => holdBuffer(bytes, budget)).toThrow(expect.objectContaining({ id: 'ingest_unavailable' }));
  await nextTurn();
  expect(isDetached(bytes)).toBe(true);
  expect(budget.take(75)).toBe(true);
});
