import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../lib/random.ts';

/** The sample that comes with Weir, its events cut around their ids. */
export interface EventSource {
  /** The body of a request with one event for each of these ids. */
  makeBody(ids: readonly string[]): Buffer;
  /** The same, with one event among them that no ingest accepts. */
  makeInvalidBody(ids: readonly string[]): Buffer;
}

/** Every line begins with the id: 36 characters between quotes. */
const idStart = '{"id":"'.length;
const idChars = 36;

export function openEventSource(random: Random): EventSource {
  const file = fileURLToPath(new URL('../../examples/events.ndjson', import.meta.url));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const ends = lines.map((line) => line.slice(idStart + idChars));
  const makeEvent = (id: string) => `{"id":"${id}${ends[random.between(0, ends.length - 1)]}`;
  const join = (events: readonly string[]) => Buffer.from(`{"events":[${events.join(',')}]}`);
  return {
    makeBody: (ids) => join(ids.map(makeEvent)),
    makeInvalidBody(ids) {
      const events = ids.map(makeEvent);
      const bad = random.between(0, events.length - 1);
      events[bad] = (events[bad] ?? '').replace(/"durationMs":/, '"durationMs":"much","was":');
      return join(events);
    },
  };
}
