import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findTextInSegment, wantedText } from './find-text.ts';

const find = (segment: string, text: string, matchCase = false) =>
  findTextInSegment(Buffer.from(segment), wantedText(text, matchCase)).map(({ index }) => index);

/** Encodes like Python's json.dumps by default. */
const asAscii = (json: string) =>
  json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

test('a text is found in exactly the events that contain it, in any JSON encoding', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(fc.array(text, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
      fc.constantFrom(JSON.stringify, (value: unknown) => asAscii(JSON.stringify(value))),
      (bodies, wanted, write) => {
        const events = bodies.map((texts) => texts.flatMap((one) => [{ t: one }, { t: `${one}${wanted}` }]));
        const segment = events.map((own) => write({ events: own })).join('\n');
        const all = events.flat();
        const found = find(segment, wanted, true);
        const holding = all.flatMap(({ t }, place) => (t.includes(wanted) ? [place] : []));
        expect(found).toEqual(expect.arrayContaining(holding));
        // Keys, and JSON around texts, are also text of the event.
        const around = [JSON.stringify({ t: '' }), JSON.stringify({ events: [] })].join('');
        if (!Array.from(wanted).some((character) => around.includes(character)))
          expect(found).toEqual(holding);
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  ['zürich', '{"events":[{"a":"in Z\\u00fcrich"},{"a":"in ZÜRICH"},{"a":"Zurich"}]}', [0, 1]],
  ['"quoted"', '{"events":[{"a":"a \\"Quoted\\" b"},{"a":"quoted"}]}', [0]],
  ['a/b', '{"events":[{"a":"a\\/b"},{"a":"a/b"},{"a":"ab"}]}', [0, 1]],
  ['x', '{"events":[]}{"other":"x","events":[{"a":1},{"a":"x"}]}', [1]],
  [
    'ПРИВЕТ',
    '{"events":[{"a":"\\u041f\\u0440\\u0438\\u0432\\u0435\\u0442"},{"a":"п\\u0420ивет"},{"a":"При"}]}',
    [0, 1],
  ],
  [
    'Öffnungszeiten',
    '{"events":[{"a":"\\u00d6ffnungszeiten"},{"a":"\\u00F6FFNUNGSZEITEN"},{"a":"öffnungszeiten"}]}',
    [0, 1, 2],
  ],
  ['οδος', '{"events":[{"a":"ΟΔΟΣ"},{"a":"οδοσ"},{"a":"\\u039f\\u0394\\u039f\\u03a3"}]}', [0, 1, 2]],
  ['𐐀', '{"events":[{"a":"𐐨"},{"a":"\\ud801\\udc28"},{"a":"\\uD801\\uDC00"}]}', [0, 1, 2]],
  ['<b>', '{"events":[{"a":"\\u003cB\\u003e"}]}', [0]],
  // An escape is one character: its last letter is no beginning of a word.
  ['nothing', '{"events":[{"a":"\\nothing"},{"a":"\\n\\nNothing"},{"a":"\\\\nothing"}]}', [1, 2]],
  // Nor are its digits text.
  ['43', '{"events":[{"a":"\\u043f"},{"a":"\\\\u043f"},{"a":"\\u043f43"}]}', [1, 2]],
  ['п', '{"events":[{"a":"\\\\u043f"},{"a":"\\\\\\u041f"}]}', [1]],
  ['"', '{"events":[{"a":"b\\\\"},{"a":"b\\""}]}', [1]],
  ['a.c', '{"events":[{"a":"abc"},{"a":"A.C"}]}', [1]],
])('%s is found whatever the case, and only in events', (text, segment, indexes) => {
  expect(find(segment, text)).toEqual(indexes);
});

test('case is compared only on request', () => {
  expect(find('{"events":["Abc","abc"]}', 'Abc', true)).toEqual([0]);
  expect(find('{"events":["\\u00C9"]}', 'É', true)).toEqual([0]);
  expect(find('{"events":["\\u00e9","é"]}', 'É', true)).toEqual([]);
});
