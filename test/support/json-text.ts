import fc from 'fast-check';

/**
 * Arbitrary JSON as text, in all the ways that one can write it: white space anywhere, escaped keys, keys that occur
 * twice, brackets and quotes in strings. Generating values and stringifying them would reach none of these.
 */

const whiteSpace = fc.constantFrom('', '', ' ', '\n', '\r\n\t  ');

const piece = fc.oneof(
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\n',
    '\\u0022',
    '\\u0000',
    '\\ud800',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    'é',
    '😀',
  ),
  fc.string().map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constant('long '.repeat(20)),
);
const stringText = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join('')}"`);
const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('0', '-1.5e+3', '9007199254740993', '1E400', 'true', 'false', 'null', '{}', '[]', '[ ]'),
);

/** A name, as a JSON string with some of its characters escaped. */
export function keyText(name: string): fc.Arbitrary<string> {
  return fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((escaped) => `"${[...name].map((char, i) => (escaped[i] ? escapeChar(char) : char)).join('')}"`);
}

/** An array with these elements, with white space around them. */
export function arrayText(element: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(spaced(element), { maxLength: 5 }).map((elements) => `[${elements.join(',')}]`);
}

/** An object with members of these keys and values, in this order, with white space around them. */
export function objectText(
  members: fc.Arbitrary<readonly [key: string, value: string][]>,
): fc.Arbitrary<string> {
  return fc.tuple(members, whiteSpace, whiteSpace).map(([pairs, before, after]) => {
    const texts = pairs.map(([key, value]) => `${before}${key}${after}:${before}${value}${after}`);
    return `{${texts.join(',')}}`;
  });
}

/** Any JSON value. Its objects like to have the given names as keys, more than once. */
export function valueText(...names: string[]): fc.Arbitrary<string> {
  const key = fc.oneof(...names.map(keyText), stringText);
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalarText,
      arrayText(tie('value')),
      objectText(fc.array(fc.tuple(key, tie('value')), { maxLength: 5 })),
    ),
  })).value;
}

/** The text, with white space before and after. */
export function spaced(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(whiteSpace, text, whiteSpace).map((texts) => texts.join(''));
}

function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
