import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../random.ts';

/** Makes request bodies from Weir's sample events. */
export interface EventSource {
  /** A body with one event for each of these ids. */
  makeBody(ids: readonly string[]): Buffer;
  /** The same, with one invalid event among them. */
  makeInvalidBody(ids: readonly string[]): Buffer;
}

/** Every line of the sample begins with the id, 36 characters in quotes. */
const idStart = '{"id":"'.length;
const idChars = 36;

export function openEventSource(random: Random): EventSource {
  const file = fileURLToPath(new URL('../../../examples/events.ndjson', import.meta.url));
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
