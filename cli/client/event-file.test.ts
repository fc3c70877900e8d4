import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinBody } from './body.ts';
import { type BadLine, openEventFile } from './event-file.ts';
import { readLines } from './lines.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-test-events-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function readAll(
  content: string | Buffer,
  name = 'events',
): Promise<{ events: string[]; lines: number[]; bad: BadLine[] }> {
  const path = join(directory, name);
  writeFileSync(path, content);
  const bad: BadLine[] = [];
  const file = await openEventFile(path, (line) => bad.push(line));
  const found = await Array.fromAsync(file.events);
  return { events: found.map(({ bytes }) => String(bytes)), lines: found.map(({ line }) => line), bad };
}

const twoEvents = '{"id": "a",  "n":9007199254740993}\n{"id":"b","text":"\\u0000é"}\r\n';
const twoLines = ['{"id": "a",  "n":9007199254740993}', '{"id":"b","text":"\\u0000é"}\r'];

test.each([
  ['plain', twoEvents],
  ['gzip', gzipSync(twoEvents)],
  ['several gzip members', Buffer.concat([gzipSync(twoEvents.slice(0, 10)), gzipSync(twoEvents.slice(10))])],
  ['no end of the last line', twoEvents.trimEnd().concat('\r')],
  ['a byte order mark', `\ufeff${twoEvents}`],
  ['blank lines', `\n  \r\n${twoEvents}\n\n`],
])('the events of a file are read byte for byte: %s', async (_, content) => {
  expect(await readAll(content)).toMatchObject({ events: twoLines, bad: [] });
});

test('lines that go on in the next read, and lines longer than a read, are whole', async () => {
  const texts = Array.from(
    { length: 400 },
    (_, n) => `{"n":${n},"text":"${'x'.repeat((n * 7919) % 20_000)}"}`,
  );
  const events = [...texts, `{"text":"${'y'.repeat(3_000_000)}"}`, ...texts];
  const path = join(directory, 'long');
  writeFileSync(path, events.join('\n'));
  for (const isReused of [false, true]) {
    const file = await openEventFile(path, () => {}, { isReused });
    // Each event is read before the next one is asked for.
    expect(await Array.fromAsync(file.events, ({ bytes }) => String(bytes))).toEqual(events);
    expect(file.bytesRead()).toBe(file.sizeBytes);
  }
});

test('an empty file has no events', async () => {
  expect(await readAll('')).toEqual({ events: [], lines: [], bad: [] });
});

test('a line that cannot be sent is reported with its number, and the others are read', async () => {
  const big = `{"text":"${'x'.repeat(4 * 1024 * 1024)}"}`;
  const content = Buffer.concat([
    Buffer.from(`{"a":1}\n{"a":\n[1]\n`),
    Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    Buffer.from(`${big}\n{"b":2}`),
  ]);
  const { events, lines, bad } = await readAll(content);
  expect(events).toEqual(['{"a":1}', '{"b":2}']);
  expect(lines).toEqual([1, 6]);
  expect(bad.map(({ id, details }) => `${id} ${details.slice(0, 6)}`)).toEqual([
    'invalid_request_body Line 2',
    'invalid_event_batch Line 3',
    'invalid_request_body Line 4',
    'batch_too_large Line 5',
  ]);
});

test.each([
  ['two events', '{},{}'],
  ['the end of the batch', '{}],"events":[{}'],
  ['an event that is not closed', '{"a":[{}]'],
  ['a string that is not closed', '{"a":"}'],
  ['something after the event', '{} x'],
])('a line that would change its batch is not sent: %s', async (_, line) => {
  const { lines, bad } = await readAll(`{"a":1}\n${line}\n{"b":2}`);
  expect(lines).toEqual([1, 3]);
  expect(bad).toEqual([
    { position: 2, id: 'invalid_request_body', details: 'Line 2: it is not valid JSON. It was not sent.' },
  ]);
});

test('a line that is nested too deep is reported as such, and not sent', async () => {
  const { lines, bad } = await readAll(`{"a":${'['.repeat(600)}${']'.repeat(600)}}\n{"b":2}`);
  expect(lines).toEqual([2]);
  expect(bad).toEqual([
    { position: 1, id: 'invalid_event_batch', details: expect.stringContaining('nested too deep') },
  ]);
});

test('a batch of lines is valid JSON only when each line alone is an event', async () => {
  const piece = fc.constantFrom('},{', '}],"events":[{', '"a":', '1', '{', '}', '[', ']', '"', '\\', ',');
  const content = fc
    .array(fc.array(piece, { maxLength: 4 }), { minLength: 1, maxLength: 12 })
    .map((lines) => lines.map((line) => `{${line.join('')}}`).join('\n'));
  const check = async (text: string, place: number) => {
    const { events } = await readAll(text, `events-${place}`);
    const { bytes } = joinBody(events.map((event, line) => ({ line, bytes: Buffer.from(event) })));
    const alone = events.map(parse);
    expect(parse(bytes.toString())).toEqual(alone.includes(undefined) ? undefined : { events: alone });
  };
  // Ten at a time, because each mostly waits for its file.
  const contents = fc.array(content, { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(contents, async (texts) => void (await Promise.all(texts.map(check)))),
    // The files take the time, not their lines: as many lines as a hundred runs with four in a file have.
    { numRuns: 40 },
  );
});

test('a truncated archive yields its readable lines and reports where it ends', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `{"n":${i * 7919}}`).join('\n');
  const { events, bad } = await readAll(gzipSync(lines).subarray(0, -5_000));
  expect(events.length).toBeGreaterThan(1_000);
  expect(bad).toEqual([
    expect.objectContaining({ details: expect.stringContaining(`After line ${events.length}`) }),
  ]);
});

test('a missing file is an error when it is opened', async () => {
  await expect(openEventFile(join(directory, 'none'), () => {})).rejects.toThrow('ENOENT');
});

test('lines do not depend on the boundaries of chunks', async () => {
  const chunk = fc
    .string({ unit: fc.constantFrom('a', 'é', '\n'), maxLength: 8 })
    .map((text) => Buffer.from(text));
  await fc.assert(
    fc.asyncProperty(fc.array(chunk), async (chunks) => {
      const source = (async function* () {
        yield* chunks;
      })();
      const lines = await Array.fromAsync(readLines(source, 1_000));
      const expected = Buffer.concat(chunks).toString().split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(lines.map((line) => String(line.bytes))).toEqual(expected);
      expect(lines.map((line) => line.number)).toEqual(expected.map((_, index) => index + 1));
    }),
  );
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
