import { expect, test } from 'vitest';
import type { Search } from '../../url/search.ts';
import type { TraceRow } from './trace-rows.ts';
import { readZoom, rowsWithin, writeZoom, zoomIn } from './zoom.ts';

const whole = { startMs: 1_000, endMs: 2_000 };

test('a zoom survives the address, ends where the trace ends, and is none when it makes no sense', () => {
  expect(readZoom(writeZoom({ startMs: 1_200.4, endMs: 1_300.2 }), whole)).toEqual({
    startMs: 1_200,
    endMs: 1_301,
  });
  expect(readZoom({ from: '0', to: '1500' }, whole)).toEqual({ startMs: 1_000, endMs: 1_500 });
  const senseless: Search[] = [
    {},
    { from: '1500', to: '1400' },
    { from: 'x', to: '1400' },
    { from: '3000', to: '4000' },
  ];
  for (const search of senseless) expect(readZoom(search, whole)).toBeUndefined();
});

test('zooming in halves the span around a time, and stays in it', () => {
  expect(zoomIn(whole, 1_500)).toEqual({ startMs: 1_250, endMs: 1_750 });
  expect(zoomIn(whole, 1_010)).toEqual({ startMs: 1_000, endMs: 1_500 });
});

test('the rows of a zoom are the events that run in it, with the heads of their lanes', () => {
  const lane = (agentId: string) => ({ kind: 'lane', lane: { agentId } }) as TraceRow;
  const event = (startTimeMs: number, endTimeMs: number) =>
    ({ kind: 'event', depth: 0, event: { startTimeMs, endTimeMs } }) as TraceRow;
  const [a, b, empty] = [lane('a'), lane('b'), lane('empty')];
  const across = event(1_000, 2_000);
  // Its clock went back.
  const backwards = event(1_450, 900);
  const rows = [a, event(1_000, 1_100), across, empty, event(1_800, 1_900), b, backwards];
  expect(rowsWithin(rows, { startMs: 1_400, endMs: 1_500 })).toEqual([a, across, b, backwards]);
});
