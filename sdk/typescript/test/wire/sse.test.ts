import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SseParser } from '../../src/wire/sse.ts';

function parse(parts: readonly string[]): string[] {
  const events: string[] = [];
  const parser = new SseParser((data) => events.push(data));
  for (const part of parts) parser.push(part);
  parser.end();
  return events;
}

const line = fc.oneof(
  fc.constantFrom('', ':', ': comment', 'data', 'data:', 'event: x', 'id: 1', 'retry: 5'),
  fc.string().map((text) => `data: ${text}`.replace(/[\r\n]/g, '')),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')))
  .map((lines) => lines.map((parts) => parts.join('')).join(''));

test('the result does not depend on how the text is split', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(40)), (text, cuts) => {
      const parts: string[] = [];
      let at = 0;
      for (const cut of cuts) {
        parts.push(text.slice(at, at + cut));
        at += cut;
      }
      expect(parse([...parts, text.slice(at)])).toEqual(parse([text]));
    }),
  );
});

test('names, several data lines, comments, a byte order mark and a missing last blank line', () => {
  expect(parse(['\uFEFFevent: a\ndata: 1\ndata:2\n\n: hi\n\ndata: 3'])).toEqual(['1\n2', '3']);
});
