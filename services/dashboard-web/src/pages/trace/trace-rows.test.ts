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
  }) as TraceEvent;
const lane = (agentId: string | null, eventIds: string[]) =>
  ({
    agentGroupId: null,
    agentId,
    threadId: null,
    eventIds,
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
  lanes: [lane('x', ['a', 'b', 'c']), lane(null, ['d'])],
} as unknown as Trace;

test('events stand below their parents of the same lane, lane by lane', () => {
  const rows = toTraceRows(trace).map((row) =>
    row.kind === 'lane' ? row.lane.agentId : `${row.depth}${row.event.id}`,
  );
  expect(rows).toEqual(['x', '0a', '1b', '2c', null, '0d']);
});

test('parents in a circle end, and do not hang the page', () => {
  const circle = {
    events: [event('a', 'b', [0, 1]), event('b', 'a', [0, 1])],
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
