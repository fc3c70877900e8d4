import fc from 'fast-check';
import { eventsPerBatchMax, jsonDepthMax } from '../../platform/limits.ts';
import { llmEvent, toolEvent } from '../fixtures/events.ts';
import { keyText, objectText, spaced, valueText } from '../fixtures/json-text.ts';

/** A request body: a string if it is text, so that a failure is readable. */
export type Body = string | Uint8Array;

type Json = { [key: string]: unknown };

const anyValue = valueText('events', 'id', 'type', '__proto__', 'constructor');

/** Values at the limits of the rules. */
const edgeValue = fc.constantFrom(
  ...'null true "" "ok" "llm" "tool" "weir" "\\u0000" "\\ud800" {} []'.split(' '),
  ...'{"llm":{}} {"tool":{}} {"state":"ok"} {"__proto__":{"x":1}}'.split(' '),
  ...'-0 1e400 8.64e15 -8640000000000001 9007199254740993 5e-324'.split(' '),
  ...'"7F1F6F0E-3C5B-4F60-9A51-0A5C0A6F8F11" "7f1f6f0e-3c5b-1f60-9a51-0a5c0a6f8f11" "7f1f6f0e"'.split(' '),
  `"${'long '.repeat(100)}"`,
  // As deep as a field of an event may be, and one level deeper: body, events and event are three levels.
  nested(jsonDepthMax - 3),
  nested(jsonDepthMax - 2),
);

/** Members of an event, by number, and the JSON that replaces each; null removes it. */
const changes = fc.array(fc.tuple(fc.nat(), fc.option(fc.oneof(anyValue, edgeValue))), { maxLength: 3 });

/**
 * An event with a fresh id: valid, with any JSON in an unknown field, or with some of its members changed.
 */
const event = fc
  .tuple(
    fc.constantFrom<Json>(llmEvent(), toolEvent()),
    fc.uuid({ version: 4 }),
    fc.oneof(anyValue, edgeValue),
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: changes }),
  )
  .map(([template, id, payload, chosen]) => {
    const changed = structuredClone({ ...template, id, free: 'value free' });
    const texts = new Map([['value free', payload]]);
    for (const [choice, value] of chosen) {
      const places = placesOf(changed);
      const place = places[choice % places.length];
      if (place === undefined) continue;
      const mark = `value ${texts.size}`;
      if (value === null) delete place.owner[place.key];
      else place.owner[place.key] = mark;
      texts.set(mark, value ?? '');
    }
    return JSON.stringify(changed).replaceAll(/"(value \w+)"/g, (all, mark) => texts.get(mark) ?? all);
  });

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** The members of an object, and of the objects in it. */
function placesOf(owner: Json): { owner: Json; key: string }[] {
  return Object.entries(owner).flatMap(([key, value]) => [
    { owner, key },
    ...(typeof value === 'object' && value !== null ? placesOf(value as Json) : []),
  ]);
}

/** Mostly an event, sometimes any other value. */
const nearlyEvent = fc.oneof(
  { weight: 20, arbitrary: event },
  { weight: 1, arbitrary: fc.oneof(anyValue, edgeValue) },
);

const events = fc.oneof(
  { weight: 40, arbitrary: fc.array(spaced(nearlyEvent), { maxLength: 5 }) },
  // The limit of the number of events.
  {
    weight: 1,
    arbitrary: fc
      .tuple(event, fc.constantFrom(eventsPerBatchMax, eventsPerBatchMax + 1))
      .map(([one, count]) => Array.from({ length: count }, () => one)),
  },
);
const batch = fc
  .tuple(keyText('events'), events, fc.array(fc.tuple(keyText('more'), anyValue), { maxLength: 1 }))
  .chain(([key, texts, more]) => objectText(fc.constant([[key, `[${texts.join(',')}]`], ...more])));

const damaged = fc
  .tuple(
    batch,
    fc.nat(),
    fc.nat({ max: 4 }),
    fc.constantFrom('', '"', '{', ']', ',', '\\', '0', '\u0000', 'é'),
  )
  .map(([text, at, removed, added]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + added + text.slice(start + removed);
  });

/** Valid and nearly valid batches, damaged ones, any JSON, any bytes. */
export const anyBody: fc.Arbitrary<Body> = fc.oneof(
  { weight: 6, arbitrary: batch },
  { weight: 2, arbitrary: damaged },
  { weight: 2, arbitrary: spaced(anyValue) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
);
