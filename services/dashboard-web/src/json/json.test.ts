import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../harness/fixtures/any-character.ts';
import { splitLines } from '../text/split-lines.ts';
import { childrenOf, find, nodeAt, openSource, readString, readStringHead, sourceOf } from './node.ts';
import { formatPath, parsePath } from './path.ts';
import { ancestorsOf, isHit, openDocument, pathsToHits, toRows } from './rows.ts';

const odd =
  '{"id" : 12345678901234567890,\n "odd":"\\u0000\\ud800 \\"ü\\\\", "n":1.0e0, "deep":[{"a":"]}"},-0.10]}';

test('numbers, escapes and brackets in texts are shown as they were sent', () => {
  const root = nodeAt(odd);
  expect(root).toEqual({ kind: 'object', start: 0, end: odd.length });
  const shown = childrenOf(odd, root).map(({ key, node }) => [key, node.kind, sourceOf(odd, node)]);
  expect(shown).toEqual([
    ['id', 'number', '12345678901234567890'],
    ['odd', 'string', '"\\u0000\\ud800 \\"ü\\\\"'],
    ['n', 'number', '1.0e0'],
    ['deep', 'array', '[{"a":"]}"},-0.10]'],
  ]);
  expect(readString(odd, find(openSource(odd), root, 'odd'))).toBe('\0\ud800 "ü\\');
});

test('of members with one name the last is found', () => {
  const text = '{"a":{"b":1},"a":{"b":2,"\\u0062":3}}';
  const node = find(openSource(text), nodeAt(text), 'a', 'b');
  expect(node && sourceOf(text, node)).toBe('3');
  expect(find(openSource(text), nodeAt(text), 'c', 'b')).toBeUndefined();
});

/** Rebuilds a value from the places of its parts. */
function rebuild(text: string, node = nodeAt(text)): unknown {
  const children = childrenOf(text, node);
  if (node.kind === 'array') return children.map((child) => rebuild(text, child.node));
  if (node.kind !== 'object') return JSON.parse(sourceOf(text, node));
  const object: Record<string, unknown> = {};
  for (const { key = '', node: child } of children) {
    Object.defineProperty(object, key, {
      value: rebuild(text, child),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

test('any JSON is cut into exactly its values, with any white space', () => {
  const values = fc.jsonValue({ stringUnit: anyCharacter });
  const spaces = fc.constantFrom(undefined, 1, '\t', '\n\r ');
  fc.assert(
    fc.property(values, spaces, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(rebuild(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('damaged JSON is an error, never an endless loop', () => {
  for (const text of ['', '{', '[1', '{"a"}', '{"a":1', '"x', '[1 2]', '{1:2}', 'nul', '[1,', '"\\"']) {
    expect(() => childrenOf(text, nodeAt(text)), text).toThrow(SyntaxError);
  }
});

test('the head of a long text ends before an escape that was cut', () => {
  const texts = fc.array(fc.constantFrom('a', '\\', '"', '\0', '\ud800', '😀', 'ü'), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(texts, fc.nat(40), (parts, length) => {
      const value = parts.join('');
      const source = JSON.stringify(value);
      expect(value.startsWith(readStringHead(source, nodeAt(source), length))).toBe(true);
    }),
  );
});

test('paths are written and read alike', () => {
  const path = fc.array(fc.oneof(fc.nat(1_000), fc.string({ unit: anyCharacter })));
  fc.assert(
    fc.property(path, (steps) => {
      expect(parsePath(formatPath(steps))).toEqual(steps);
    }),
  );
  expect(formatPath(['properties', 'llm', 'input', 'tools', 0, 'odd name'])).toBe(
    'properties.llm.input.tools[0]["odd name"]',
  );
  expect(parsePath('a..b')).toBeUndefined();
});

test('a tree has the lines of what is open, and no others', () => {
  const document = openDocument(odd, nodeAt(odd));
  const paths = (open: string[]) => toRows(document, new Set(open)).map(({ path }) => path);
  expect(paths([])).toEqual(['']);
  expect(paths([''])).toEqual(['', 'id', 'odd', 'n', 'deep', '#end']);
  expect(paths(['', ...ancestorsOf(['deep', 0, 'a'])])).toContain('deep[0].a');
});

test('a tree is open at the hits of a search, in any case, and where a client escapes what is not ASCII', () => {
  const long = `${'x '.repeat(200)}the Tangerine shelf`;
  const text = `{"rows":[{"note":"none"},{"note":${JSON.stringify(long)}}],"city":{"name":"Z\\u00fcrich"}}`;
  const document = openDocument(text, nodeAt(text));
  const hits = (found: string) => {
    const rows = toRows(document, pathsToHits(document, found));
    return rows.filter((row) => isHit(row, document, found)).map(({ path }) => path);
  };
  expect(hits('tangerine')).toEqual(['rows[1].note#3']);
  expect(hits('Zürich')).toEqual(['city.name']);
  expect(hits('nowhere')).toEqual([]);
  expect(hits('')).toEqual([]);
});

test('a line is cut after so many characters, and loses none', () => {
  const text = `${'x'.repeat(250)}\r\n\n${'😀'.repeat(80)}`;
  const lines = splitLines(text, 99);
  expect(lines.join('')).toBe(text.replaceAll(/[\r\n]/g, ''));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
  for (const line of lines) expect(line.isWellFormed()).toBe(true);
});
