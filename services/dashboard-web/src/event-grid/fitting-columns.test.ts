import { expect, test } from 'vitest';
import { fittingColumns } from './fitting-columns.ts';

const widths = { time: 100, name: 100, duration: 100, cost: 100, user: 100, thread: 100, preview: 300 };
const columns = Object.entries(widths).map(([id, width]) => ({ id, width }));
const ids = (room: number, kept?: string) =>
  fittingColumns(columns, ({ width }) => width, { room, kept })
    .map(({ id }) => id)
    .join(' ');

test('the least important columns are left out until the others fit, but not the one of the order', () => {
  expect(ids(900)).toBe('time name duration cost user thread preview');
  expect(ids(899)).toBe('time name duration cost user preview');
  expect(ids(700)).toBe('time name duration cost preview');
  expect(ids(600, 'cost')).toBe('time name cost preview');
  expect(ids(0)).toBe('time name preview');
});
