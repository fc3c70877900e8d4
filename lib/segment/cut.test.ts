import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrayText, keyText, objectText, spaced, valueText } from '../../test/support/json-text.ts';
import { cutEvents } from './cut.ts';

const anyEvent = valueText('events', 'id');
const eventsMember = fc.tuple(keyText('events'), arrayText(anyEvent));
const otherMember = fc.tuple(fc.constantFrom('"event"', '"Events"', '""', '"\\"events"', '"id"'), anyEvent);
const anyMember = fc.oneof(eventsMember, otherMember);
const anyBody = objectText(
  fc
    .tuple(fc.array(anyMember, { maxLength: 3 }), eventsMember, fc.array(anyMember, { maxLength: 2 }))
    .map(([before, events, after]) => [...before, events, ...after]),
);

test('every event that JSON.parse sees in a segment is cut, and means the same', () => {
  fc.assert(
    fc.property(fc.array(spaced(anyBody), { minLength: 1, maxLength: 4 }), (bodies) => {
      const expected: unknown[] = bodies.flatMap((body) => JSON.parse(body).events);
      const indexes = [...expected.keys()];
      const cut = cutEvents(Buffer.from(bodies.join('')), indexes);
      expect(indexes.map((index) => JSON.parse(cut.get(index) ?? 'absent'))).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test('an event is cut exactly as it was written', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { minLength: 1 }), (texts) => {
      const segment = Buffer.from(`{"events":[\n${texts.join(' ,\t')}\r\n]}`);
      expect(cutEvents(segment, [...texts.keys()])).toEqual(new Map(texts.entries()));
    }),
  );
});

const longText = 'x'.repeat(100);

test.each<[guarantee: string, segment: string, events: string[]]>([
  ['the last of two events members wins', '{"events":[1],"events":[2,3]}', ['2', '3']],
  ['a key may be escaped', '{"events":[1],"\\u0065vent\\u0073":[2]}', ['2']],
  ['an events member that is no array holds no event', '{"events":[1],"events":5}{"events":[2]}', ['2']],
  ['an events member inside is data', '{"a":{"events":[1]},"events":[{"events":[2]}]}', ['{"events":[2]}']],
  ['numbers and escapes stay', '{"events":[9007199254740993,"\\ud800"]}', ['9007199254740993', '"\\ud800"']],
  ['a string may end in back-slashes', '{"events":["a\\\\","\\\\\\"]"]}', ['"a\\\\"', '"\\\\\\"]"']],
  ['so may a long one', `{"events":["${longText}\\\\\\"","b"]}`, [`"${longText}\\\\\\""`, '"b"']],
  ['bodies may touch or be apart', '{"events":[1]}{"events":[]}\r\n\t {"events":[2]} ', ['1', '2']],
])('%s', (_, segment, events) => {
  expect([...cutEvents(Buffer.from(segment), [0, 1, 2]).values()]).toEqual(events);
});

test('an index that the segment does not hold is absent', () => {
  expect(cutEvents(Buffer.from('{"events":[1,2]}'), [7, 1, -1])).toEqual(new Map([[1, '2']]));
});

test.each(['nothing', '{"events":[1,2', '{"events":[1 2]}', '{"events":["a]}', '[]', '{"events":[,]}'])(
  'a damaged segment is refused: %s',
  (segment) => {
    expect(() => cutEvents(Buffer.from(segment), [0])).toThrow('damaged');
  },
);
