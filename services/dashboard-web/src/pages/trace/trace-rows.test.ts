import { expect, test } from 'vitest';
import { spanOf, type Trace, type TraceEvent, toTraceRows, toTraceText } from './trace-rows.ts';

const event = (id: string, parent: string | null, times: [start: number, end: number]) =>
  ({
    id,
    type: 'llm',
    state: 'ok',
    name: id,
    startTimeMs: times[0],
    endTimeMs: times[1],
    durationMs: times[1] - times[0],
    parent: parent === null ? null : { id: parent, by: 'otlp', isInferred: false },
    above: null,
  }) as TraceEvent;
const lane = (agentId: string | null, eventIds: string[], spanIds: string[] = []) =>
  ({
    agentGroupId: null,
    agentId,
    threadId: null,
    eventIds,
    spanIds,
    events: eventIds.length,
    errors: 0,
  }) as Trace['lanes'][number];

const trace = {
  events: [
    event('a', null, [0, 100]),
    event('b', 'a', [10, 50]),
    event('c', 'b', [20, 5]),
    event('d', 'a', [60, 120]),
  ],
  spans: [],
  lanes: [lane('x', ['a', 'b', 'c']), lane(null, ['d'])],
} as unknown as Trace;

test('events stand below their parents of the same lane, lane by lane', () => {
  const rows = toTraceRows(trace).map((row) =>
    row.kind === 'lane'
      ? row.lane.agentId
      : `${row.depth}${row.kind === 'event' ? row.event.id : row.span.name}`,
  );
  expect(rows).toEqual(['x', '0a', '1b', '2c', null, '0d']);
});

test('spans of OpenTelemetry are rows, with the events below them', () => {
  const run = { id: 'r', kind: 'agent', name: 'planner', startTimeMs: 0, endTimeMs: 90, above: null };
  const step = { ...run, id: 's', kind: 'chain', name: 'step', startTimeMs: 5, endTimeMs: 80, above: 'r' };
  const call = { ...event('a', null, [10, 50]), above: 's' };
  const whole = { events: [call], spans: [run, step], lanes: [lane('planner', ['a'], ['r', 's'])] };
  const rows = toTraceRows(whole as unknown as Trace);
  expect(toTraceText(rows, 0).map((line) => line.trim())).toEqual([
    '── planner (1 event, 0 errors)',
    '+0.000 s  agent planner  90 ms',
    '+0.005 s    chain step  75 ms',
    '+0.010 s      llm a  40 ms',
  ]);
});

test('a span stands above its only event, which has the same times', () => {
  const step = { id: 's', kind: 'span', name: 'step', startTimeMs: 10, endTimeMs: 50, above: null };
  const call = { ...event('a', null, [10, 50]), above: 's' };
  const whole = { events: [call], spans: [step], lanes: [lane('planner', ['a'], ['s'])] };
  expect(toTraceRows(whole as unknown as Trace).map(({ kind }) => kind)).toEqual(['lane', 'span', 'event']);
});

test('parents in a circle end, and do not hang the page', () => {
  const circle = {
    events: [event('a', 'b', [0, 1]), event('b', 'a', [0, 1])],
    spans: [],
    lanes: [lane('x', ['a', 'b'])],
  };
  expect(toTraceRows(circle as unknown as Trace)).toHaveLength(3);
});

test('the span holds every event, also one that ends before it starts', () => {
  expect(spanOf(trace)).toEqual({ startMs: 0, endMs: 120 });
});

test('the outline has a line for each row', () => {
  expect(toTraceText(toTraceRows(trace), 0)[3]).toBe(
    '   +0.020 s      llm c  -15 ms'.replace('   +0', '    +0'),
  );
});
