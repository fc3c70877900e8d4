import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrayText, keyText, objectText, spaced, valueText } from '../../harness/fixtures/json-text.ts';
import { parseEscapedKeys } from '../json/parse-escaped-keys.ts';
import { newScanState } from '../json/scan.ts';
import { cutEvents, locateEvents } from './cut.ts';

const parse = (text: string) => parseEscapedKeys(Buffer.from(text));

const anyEvent = valueText('events', 'id');
const eventsMember = fc.tuple(keyText('events'), arrayText(anyEvent));
const otherMember = fc.tuple(fc.constantFrom('"event"', '"Events"', '""', '"\\"events"', '"id"'), anyEvent);
const anyMember = fc.oneof(eventsMember, otherMember);
const anyBody = objectText(
  fc
    .tuple(fc.array(anyMember, { maxLength: 3 }), eventsMember, fc.array(anyMember, { maxLength: 2 }))
    .map(([before, events, after]) => [...before, events, ...after]),
);

test('every event of a segment is cut, and has the same value', () => {
  fc.assert(
    fc.property(fc.array(spaced(anyBody), { minLength: 1, maxLength: 4 }), (bodies) => {
      const expected: unknown[] = bodies.flatMap((body) => (parse(body) as { events: unknown[] }).events);
      const indexes = [...expected.keys()];
      const cut = cutEvents(Buffer.from(bodies.join('')), indexes);
      expect(indexes.map((index) => parse(cut.get(index) ?? 'absent'))).toEqual(expected);
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
  ['a nested events member is data', '{"a":{"events":[1]},"events":[{"events":[2]}]}', ['{"events":[2]}']],
  [
    'numbers and escapes are kept',
    '{"events":[9007199254740993,"\\ud800"]}',
    ['9007199254740993', '"\\ud800"'],
  ],
  ['a string may end in back-slashes', '{"events":["a\\\\","\\\\\\"]"]}', ['"a\\\\"', '"\\\\\\"]"']],
  [
    'a long string may end in back-slashes',
    `{"events":["${longText}\\\\\\"","b"]}`,
    [`"${longText}\\\\\\""`, '"b"'],
  ],
  [
    'bodies may have white space between them',
    '{"events":[1]}{"events":[]}\r\n\t {"events":[2]} ',
    ['1', '2'],
  ],
])('%s', (_, segment, events) => {
  expect([...cutEvents(Buffer.from(segment), [0, 1, 2]).values()]).toEqual(events);
});

test('an index outside of the segment is absent', () => {
  expect(cutEvents(Buffer.from('{"events":[1,2]}'), [7, 1, -1])).toEqual(new Map([[1, '2']]));
});

test.each(['nothing', '{"events":[1,2', '{"events":[1 2]}', '{"events":["a]}', '[]', '{"events":[,]}'])(
  'a damaged segment is rejected: %s',
  (segment) => {
    expect(() => cutEvents(Buffer.from(segment), [0])).toThrow('damaged');
  },
);

const flagsOf = (body: string) => {
  const { events, hasEscapedKey } = locateEvents(Buffer.from(body), 0);
  return [...events.map((event) => event.hasEscapedKey), hasEscapedKey];
};

test.each<[guarantee: string, body: string, flags: boolean[]]>([
  [
    'back-slashes in values are not escaped keys',
    '{"a":"\\\\","events":[{"prompt":"\\\\[ x = 1 \\\\]"},{"path":["\\\\\\\\host","C:\\\\x:"]}]}',
    [false, false, false],
  ],
  [
    'an escaped key counts for its own event only',
    '{"events":[{"a":0},{"b":[{"\\\\" :0}]},{"c":"\\n"},{"\\u0061":0}]}',
    [false, true, false, true, false],
  ],
  ['an escaped key beside the events counts for the rest', '{"more":{"\\n":0},"events":[{}]}', [false, true]],
  ['so does an escaped name of a member', '{"\\u0065vents":[{}]}', [false, true]],
  ['so does a key in events that are replaced', '{"events":[{"\\n":0}],"events":[{}]}', [false, true]],
])('%s', (_, body, flags) => {
  expect(flagsOf(body)).toEqual(flags);
});

test('an escaped key counts as an additional value', () => {
  const locate = (key: string, valuesMax: number) =>
    locateEvents(Buffer.from(`{"events":[{"a":{${Array(10).fill(`"${key}":0`).join()}}}]}`), 0, {
      scanState: newScanState(valuesMax),
    });
  expect(locate('k', 15).events).toHaveLength(1);
  expect(() => locate('\\n', 15)).toThrow('too many values');
  expect(locate('\\n', 25).events).toHaveLength(1);
});
