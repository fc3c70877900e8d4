import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findTextInSegment, wantedText } from './find-text.ts';

const find = (segment: string, text: string, matchCase = false) =>
  findTextInSegment(Buffer.from(segment), wantedText(text, matchCase));

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
        // Keys, and the characters of escapes, are also text of the event.
        for (const place of found) {
          const json = write(all[place]);
          expect(wantedText(wanted, true).spellings.some((one) => json.includes(one))).toBe(true);
        }
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
])('%s is found whatever the case, and only in events', (text, segment, indexes) => {
  expect(find(segment, text)).toEqual(indexes);
});

test('case is compared only on request', () => {
  expect(find('{"events":["Abc","abc"]}', 'Abc', true)).toEqual([0]);
  expect(find('{"events":["\\u00C9"]}', 'É', true)).toEqual([0]);
});
