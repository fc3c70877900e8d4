import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findContaining } from './containment.ts';
import { findNamedSpans } from './named-spans.ts';
import { findParents } from './parents.ts';
import { findGaps, findLanes, findOverlaps } from './timeline.ts';
import { compareInTime, endOf, type TraceRow } from './trace-events.ts';

function row(changes: Partial<TraceRow>): TraceRow {
  const startTimeMs = changes.startTimeMs ?? 0;
  const endTimeMs = changes.endTimeMs ?? startTimeMs + 10;
  return {
    id: randomUUID(),
    type: 'llm',
    state: 'ok',
    name: 'm',
    source: 's',
    traceId: null,
    threadId: null,
    agentId: null,
    agentGroupId: null,
    userId: null,
    startTimeMs,
    endTimeMs,
    durationMs: endTimeMs - startTimeMs,
    receivedAt: new Date(0),
    inputTokens: null,
    outputTokens: null,
    totalTokens: null,
    reasoningTokens: null,
    usageParts: null,
    priceClass: null,
    reportedCost: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    ...{
      errorCode: null,
      errorHttpStatus: null,
      errorMessage: null,
      inputPreview: null,
      outputPreview: null,
    },
    segmentId: randomUUID(),
    segmentIndex: 0,
    attributes: null,
    ...changes,
  };
}

const none = new Map<string, string[]>();

test('a parent that the client named takes precedence over an inferred one, and is marked', () => {
  const rows = [
    row({ id: 'root', startTimeMs: 0, endTimeMs: 100 }),
    row({ id: 'other', startTimeMs: 10, endTimeMs: 20 }),
    row({ id: 'child', startTimeMs: 12, endTimeMs: 15, attributes: { 'otel.parent_event_id': 'root' } }),
    row({ id: 'orphan', startTimeMs: 200, attributes: { 'otel.parent_event_id': 'absent' } }),
  ];
  expect(Object.fromEntries(findParents(rows, none))).toEqual({
    other: { id: 'root', by: 'containment', isInferred: true },
    child: { id: 'root', by: 'otlp', isInferred: false },
  });
});

test('each tool call takes the next event of that tool in its thread', () => {
  const rows = [
    row({ id: 'llm', threadId: 't', endTimeMs: 10 }),
    row({ id: 'elsewhere', type: 'tool', name: 'grep', threadId: 'u', startTimeMs: 11 }),
    row({ id: 'first', type: 'tool', name: 'grep', threadId: 't', startTimeMs: 12 }),
    row({ id: 'second', type: 'tool', name: 'grep', threadId: 't', startTimeMs: 30 }),
    row({ id: 'third', type: 'tool', name: 'grep', threadId: 't', startTimeMs: 50 }),
    row({ id: 'read', type: 'tool', name: 'read', threadId: 't', startTimeMs: 70 }),
  ];
  const calls = new Map([['llm', ['grep', 'read', 'grep', 'absent']]]);
  const by = { id: 'llm', by: 'tool_call', isInferred: true };
  expect(Object.fromEntries(findParents(rows, calls))).toEqual({ first: by, second: by, read: by });
});

test('the shortest containing event of the group is the parent, preferably of the same thread', () => {
  const rows = [
    row({ id: 'a', agentGroupId: 'g', threadId: 't', startTimeMs: 0, endTimeMs: 100 }),
    row({ id: 'b', agentGroupId: 'g', threadId: 'u', startTimeMs: 1, endTimeMs: 90 }),
    row({ id: 'c', agentGroupId: 'g', threadId: 't', startTimeMs: 2, endTimeMs: 80 }),
    row({ id: 'd', agentGroupId: 'other', threadId: 't', startTimeMs: 3, endTimeMs: 70 }),
    row({ id: 'e', agentGroupId: 'g', threadId: 'v', startTimeMs: 79, endTimeMs: 85 }),
  ];
  const parents = Object.fromEntries([...findParents(rows, none)].map(([id, parent]) => [id, parent.id]));
  expect(parents).toEqual({ b: 'a', c: 'a', e: 'b' });
});

/** The definition of {@link findContaining}, by comparing all pairs. */
function containersOf(rows: readonly TraceRow[]): [string, string][] {
  const lengthOf = (one: TraceRow) => endOf(one) - one.startTimeMs;
  return rows.flatMap((own): [string, string][] => {
    const found = rows
      .filter(
        (one) =>
          one.agentGroupId === own.agentGroupId &&
          one.startTimeMs <= own.startTimeMs &&
          endOf(one) >= endOf(own) &&
          endOf(one) > own.startTimeMs &&
          lengthOf(one) > lengthOf(own),
      )
      .toSorted(
        (a, b) =>
          Number(b.threadId === own.threadId) - Number(a.threadId === own.threadId) ||
          lengthOf(a) - lengthOf(b),
      )[0];
    return found === undefined ? [] : [[own.id, found.id]];
  });
}

const anyRows = fc
  .array(
    fc.record({
      startTimeMs: fc.integer({ min: 0, max: 60 }),
      lengthMs: fc.integer({ min: 0, max: 30 }),
      type: fc.constantFrom('llm' as const, 'tool' as const),
      agentGroupId: fc.constantFrom('g', null),
      agentId: fc.constantFrom('a', 'b', null),
      threadId: fc.constantFrom('t', 'u', null),
      named: fc.integer({ min: 0, max: 14 }),
    }),
    { maxLength: 12 },
  )
  .map((all) =>
    all
      .map(({ startTimeMs, lengthMs, named, ...values }, place) =>
        row({
          ...values,
          id: String(place),
          name: 'grep',
          startTimeMs,
          endTimeMs: startTimeMs + lengthMs,
          attributes: named < 6 ? { 'otel.parent_event_id': String(named) } : null,
        }),
      )
      .toSorted(compareInTime),
  );

test('each event gets the shortest longer event that contains it, preferably of its own thread', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      expect([...findContaining(rows)]).toEqual(containersOf(rows));
    }),
    { numRuns: 300 },
  );
});

test('no event is its own ancestor, whatever clients send', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      const calls = new Map(
        rows.filter(({ type }) => type === 'llm').map(({ id }) => [id, ['grep', 'grep']]),
      );
      const parents = findParents(rows, calls);
      for (const { id } of rows) {
        const above = new Set<string>();
        for (let at = parents.get(id)?.id; at !== undefined; at = parents.get(at)?.id) {
          expect(at).not.toBe(id);
          expect(above.has(at)).toBe(false);
          above.add(at);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('in gaps no event runs, in overlaps at least two, and lanes have each event once', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      const runningAt = (ms: number) =>
        rows.filter(({ startTimeMs, endTimeMs }) => startTimeMs <= ms && endTimeMs > ms).length;
      const within = (intervals: readonly { startMs: number; endMs: number }[], ms: number) =>
        intervals.some(({ startMs, endMs }) => startMs <= ms && endMs > ms);
      const [gaps, overlaps] = [findGaps(rows), findOverlaps(rows)];
      const firstMs = rows[0]?.startTimeMs ?? 0;
      const lastMs = Math.max(0, ...rows.map(({ endTimeMs }) => endTimeMs));
      for (let ms = firstMs; ms < lastMs; ms++) {
        expect(within(gaps, ms)).toBe(runningAt(ms) === 0);
        expect(within(overlaps, ms)).toBe(runningAt(ms) >= 2);
      }
      for (const { startMs, endMs, eventsAtOnce } of overlaps) {
        const most = Array.from({ length: endMs - startMs }, (_, i) => runningAt(startMs + i));
        expect(eventsAtOnce).toBe(Math.max(...most));
      }
      const lanes = findLanes(rows);
      expect(lanes.flatMap(({ eventIds }) => eventIds).sort()).toEqual(rows.map(({ id }) => id).sort());
      const keys = lanes.map(({ agentGroupId, agentId, threadId }) =>
        JSON.stringify([agentGroupId, agentId, threadId]),
      );
      expect(new Set(keys).size).toBe(keys.length);
      // Lanes of a group are adjacent.
      const groups = lanes.map(({ agentGroupId }) => agentGroupId);
      expect(groups.filter((group, place) => group !== groups[place - 1]).length).toBe(new Set(groups).size);
    }),
    { numRuns: 300 },
  );
});

/** The additional properties of an event inside these spans, as the SDK sends them: `id:name`. */
const inside = (path: string, parentId?: string) => ({
  'span.path': path.replaceAll(/\w+:/g, '').replaceAll('/', ' > '),
  'span.ids': path.replaceAll(/:\w+/g, ''),
  ...(parentId !== undefined && { 'otel.parent_event_id': parentId }),
});

test('the spans that events name are above them, and last from the first to the last event', () => {
  const rows = [
    row({ id: 'first', startTimeMs: 0, endTimeMs: 5, agentId: 'a', attributes: inside('1:plan') }),
    row({ id: 'deep', startTimeMs: 10, endTimeMs: 40, attributes: inside('1:plan/2:step') }),
    row({ id: 'again', startTimeMs: 20, endTimeMs: 30, attributes: inside('1:plan/3:step') }),
    row({ id: 'outside', startTimeMs: 50 }),
  ];
  const { spans, above } = findNamedSpans(rows);
  expect(spans).toMatchObject([
    { id: '1', kind: 'span', name: 'plan', startTimeMs: 0, endTimeMs: 40, agentId: 'a', above: null },
    { id: '2', name: 'step', startTimeMs: 10, endTimeMs: 40, above: '1' },
    { id: '3', name: 'step', startTimeMs: 20, endTimeMs: 30, above: '1' },
  ]);
  expect(Object.fromEntries(above)).toEqual({ first: '1', deep: '2', again: '3' });
});

test('a tool is between the spans around it and those inside it', () => {
  const rows = [
    row({ id: 'tool', type: 'tool', startTimeMs: 0, endTimeMs: 90, attributes: inside('1:plan') }),
    row({ id: 'direct', startTimeMs: 10, attributes: inside('1:plan', 'tool') }),
    row({ id: 'deep', startTimeMs: 20, attributes: inside('1:plan/2:rank', 'tool') }),
    row({ id: 'orphan', startTimeMs: 30, attributes: inside('1:plan/3:late', 'absent') }),
  ];
  const { spans, above } = findNamedSpans(rows);
  expect(spans.map(({ id, above: upper }) => [id, upper])).toEqual([
    ['1', null],
    ['2', 'tool'],
    ['3', '1'],
  ]);
  expect(Object.fromEntries(above)).toEqual({ tool: '1', direct: 'tool', deep: '2', orphan: '3' });
});

test('a path that does not match its ids names no span', () => {
  const odd: TraceRow['attributes'][] = [
    { 'span.path': 'a > b', 'span.ids': '1' },
    { 'span.path': 'a' },
    { 'span.path': 'a', 'span.ids': '' },
    { 'span.path': 1, 'span.ids': 2 },
  ];
  expect(findNamedSpans(odd.map((attributes) => row({ attributes })))).toEqual({
    spans: [],
    above: new Map(),
  });
});
