import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sliceElements, sliceMembers } from '../../src/wire/json-slice.ts';

const spaces = fc.constantFrom(undefined, 1, 2, '\t', '\r\n');

test('members and elements equal those of JSON.parse', () => {
  const json = fc.jsonValue({ depthSize: 'medium' });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json), spaces, (object, space) => {
      const members = sliceMembers(JSON.stringify(object, null, space));
      const parsed = Array.from(members, ([name, text]) => [name, JSON.parse(text)]);
      expect(parsed).toEqual(Object.entries(JSON.parse(JSON.stringify(object))));
    }),
  );
  fc.assert(
    fc.property(fc.array(json), spaces, (array, space) => {
      const elements = sliceElements(JSON.stringify(array, null, space));
      expect(elements.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(array)));
    }),
  );
});

test('digits, escapes and spaces are unchanged', () => {
  const members = sliceMembers(
    ' { "a" : 9007199254740993123 , "b\\u0020" : [ 1.0 , "\\"}" ] , "a" : -0.10e+5 } ',
  );
  expect([...members]).toEqual([
    ['a', '-0.10e+5'],
    ['b ', '[ 1.0 , "\\"}" ]'],
  ]);
});

test.each(['', 'null', '"x"', '12', '[', '{"a', '{"a":', '[1,'])('it ends for %s', (text) => {
  expect(() => [sliceMembers(text), sliceElements(text)]).not.toThrow(TypeError);
});
