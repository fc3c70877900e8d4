import { expect, test } from 'vitest';
import { readCalledTools } from './called-tools.ts';
import { traceEventsMax } from './limits.ts';
import { findParents } from './parents.ts';
import type { TraceRow } from './trace-events.ts';

/**
 * Allowed reads per event: a few logarithms of the number of events. Quadratic work would be a hundred times
 * more.
 */
const readsPerRow = 400;

/** Rows of a trace that count how often their times and ids are read. */
function countedRows(make: (place: number) => Partial<TraceRow>) {
  let reads = 0;
  const counting: ProxyHandler<Partial<TraceRow>> = {
    get(row, name) {
      reads += 1;
      return Reflect.get(row, name);
    },
  };
  const rows = Array.from({ length: traceEventsMax }, (_, place) => {
    const row: Partial<TraceRow> = {
      id: String(place),
      name: 'x',
      agentGroupId: null,
      threadId: null,
      attributes: null,
      type: 'tool',
      ...make(place),
    };
    // Only these members are read.
    return new Proxy(row, counting) as TraceRow;
  });
  return { rows, countReads: () => reads };
}

const span = (startTimeMs: number, endTimeMs: number) => ({
  startTimeMs,
  endTimeMs,
  durationMs: endTimeMs - startTimeMs,
});

test('the work for tool calls does not grow with the product of calls and events of a tool', () => {
  const names = Array.from({ length: 20_000 }, () => 'x');
  const { rows, countReads } = countedRows((place) => ({
    ...span(place, place + 0.5),
    type: place < 4 ? 'llm' : 'tool',
  }));
  const parents = findParents(rows, new Map(['0', '1', '2', '3'].map((id) => [id, names])));
  expect(parents.get('4')).toMatchObject({ id: '0', by: 'tool_call' });
  expect(countReads()).toBeLessThan(readsPerRow * (rows.length + 4 * names.length));
  // Each event is taken once, whichever call it belongs to.
  expect(parents.size).toBe(rows.length - 4);
});

test('thousands of concurrent events are not compared with each other', () => {
  const { rows, countReads } = countedRows((place) => span(place, 2 * traceEventsMax - place));
  const parents = findParents(rows, new Map());
  expect(parents.get('4999')).toMatchObject({ id: '4998', by: 'containment' });
  expect(countReads()).toBeLessThan(readsPerRow * rows.length);
});

test('a chain of thousands of parents is not walked for each of its events', () => {
  let follows = 0;
  class CountedMap<Key, Value> extends Map<Key, Value> {
    override get(key: Key) {
      follows += 1;
      return super.get(key);
    }
  }
  const { Map: plainMap } = globalThis;
  const { rows } = countedRows((place) => ({
    ...span(place, place + 0.5),
    attributes: { 'otel.parent_event_id': String(place - 1) },
  }));
  globalThis.Map = Object.assign(CountedMap, { groupBy: plainMap.groupBy }) as MapConstructor;
  try {
    expect(findParents(rows, new plainMap()).size).toBe(traceEventsMax - 1);
  } finally {
    globalThis.Map = plainMap;
  }
  expect(follows).toBeGreaterThan(0);
  expect(follows).toBeLessThan(readsPerRow * rows.length);
});

const eventWith = (toolCalls: string) =>
  `{"type":"llm","properties":{"llm":{"output":{"toolCalls":1},"x":[{}],"output":{"a":"}","toolCalls":${toolCalls}}}},"z":0}`;

test('of a 4 MiB event, the requested number of calls is read, and the result is marked incomplete', () => {
  const text = eventWith(`[${Array.from({ length: 300_000 }, () => '{"name":"x"}').join(',')}]`);
  const { names, isComplete } = readCalledTools(text, 256);
  expect(names).toHaveLength(256);
  expect(isComplete).toBe(false);
});

test.each([
  ['[]', []],
  ['7', []],
  ['[{"name":"a"},{"toolName":"b","name":"a"},{"function":{"name":"c"}},{"tool":"d"}]', ['a', 'b', 'c', 'd']],
  [
    '[{"name":null,"tool":"e"},{"name":7,"tool":"f"},{"n\\u0061me":"g\\n"},"h",{"function":"i"}]',
    ['e', 'g\n'],
  ],
  [`[{"name":"${'x'.repeat(300)}","arguments":{"name":"y"}}]`, ['x'.repeat(256)]],
])('the names of the tools of %s are read as JSON means them', (toolCalls, names) => {
  expect(readCalledTools(eventWith(toolCalls), 256)).toEqual({ names, isComplete: true });
});
