import { randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { boundOf, dateOf, millisecondOf, uncovered, weekOf } from './weeks.ts';

test('a week is from Monday to Monday, UTC', () => {
  const week = weekOf(Date.parse('2026-11-22T23:59:59.999Z'));
  expect([dateOf(week.fromMs), dateOf(week.toMs)]).toEqual(['20261116', '20261123']);
  expect(weekOf(week.toMs).fromMs).toBe(week.toMs);
  expect(weekOf(week.fromMs, 2).fromMs).toBe(week.fromMs + 14 * 86_400_000);
  const first = weekOf(0);
  expect([dateOf(first.fromMs), dateOf(first.toMs)]).toEqual(['19700101', '19700105']);
});

test('every UUIDv7 of a time lies between its bounds', () => {
  const id = randomUUIDv7();
  const atMs = millisecondOf(id);
  expect(Math.abs(atMs - Date.now())).toBeLessThan(60_000);
  expect(id > boundOf(atMs)).toBe(true);
  expect(id < boundOf(atMs + 1)).toBe(true);
  expect(millisecondOf(boundOf(atMs))).toBe(atMs);
});

test('the uncovered parts lie between the other ranges', () => {
  const range = (fromMs: number, toMs: number) => ({ fromMs, toMs });
  expect(uncovered(range(10, 20), [])).toEqual([range(10, 20)]);
  expect(uncovered(range(10, 20), [range(20, 30), range(0, 10)])).toEqual([range(10, 20)]);
  expect(uncovered(range(10, 20), [range(-Infinity, 12), range(14, 15), range(18, 99)])).toEqual([
    range(12, 14),
    range(15, 18),
  ]);
  expect(uncovered(range(10, 20), [range(0, 15), range(15, 20)])).toEqual([]);
});
