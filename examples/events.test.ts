import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileBatchRules } from '../event/validate.ts';

const text = readFileSync(new URL('events.ndjson', import.meta.url), 'utf8');
const events: { id: string; type: string; traceId: string; status: { state: string } }[] = text
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

test('all sample events are valid and fit into one batch', () => {
  expect(compileBatchRules('weir').validateBatch({ events })).toHaveLength(events.length);
  expect(text.length).toBeLessThan(400_000);
});

test('the sample has both types, errors of both, several traces, and unique ids', () => {
  const kinds = new Set(events.map((event) => `${event.type} ${event.status.state}`));
  expect([...kinds].toSorted()).toEqual(['llm error', 'llm ok', 'tool error', 'tool ok']);
  expect(new Set(events.map((event) => event.traceId)).size).toBeGreaterThan(5);
  expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
});
