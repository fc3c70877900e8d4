import { expect, test } from 'vitest';
import { prepareFreshBodies } from './fresh-bodies.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('prepared bodies differ only in their ids, and no id repeats', () => {
  const events = ['{"id":"x","a":1}', '{"a":2}', '{"a":"é","id":"y"}'].map((text) => Buffer.from(text));
  const next = prepareFreshBodies(events);
  const parsed: { events: { id?: string; a: unknown }[] }[] = [next(), next()].map((body) =>
    JSON.parse(body.toString()),
  );
  const ids = parsed.flatMap((body) => body.events.map((event) => event.id)).filter((id) => id !== undefined);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(uuid);
  for (const body of parsed) expect(body.events.map((event) => event.a)).toEqual([1, 2, 'é']);
});
