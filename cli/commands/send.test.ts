import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { runWeir } from '../../test/support/cli/command-line.ts';
import { accept, eventTexts, IngestStub, refuse } from '../../test/support/cli/ingest-stub.ts';

const ingest = new IngestStub();
const lines = Array.from(
  { length: 25 },
  (_, n) => `{"id":"e${n}",  "n":9007199254740993, "t":"\\u0000 é \\ud800"}`,
);
const content = `${lines.join('\n')}\n`;
const sentLines = () => ingest.received.flatMap(eventTexts);

test.each([
  ['plain', content],
  ['gzip', gzipSync(content)],
])('every line is sent exactly once, byte for byte: %s', async (_, file) => {
  const { exitCode, summary, stderr } = await ingest.send(file, '--batch', '4', '--concurrency', '3');
  expect(sentLines().toSorted()).toEqual(lines.toSorted());
  for (const body of ingest.received) expect(JSON.parse(body).events.length).toBeLessThanOrEqual(4);
  expect(exitCode).toBe(0);
  expect(summary).toEqual({
    accepted: 25,
    rejected: 0,
    errors: [],
    requests: 7,
    retries: 0,
    eventsPerSecond: expect.any(Number),
    p50Ms: expect.any(Number),
    p99Ms: expect.any(Number),
  });
  expect(stderr).toContain('Accepted 25 events');
});

test('a request carries 500 events by default', async () => {
  await ingest.send(Array.from({ length: 501 }, (_, n) => `{"id":${n}}`).join('\n'));
  expect(ingest.received.map((body) => JSON.parse(body).events.length).toSorted()).toEqual([1, 500]);
});

test('a retried batch carries the same ids, and is counted once', async () => {
  ingest.respond = (response, { number }) => {
    if (number === 0) refuse(response, 503, 'ingest_unavailable');
    else if (number === 1) response.destroy();
    else accept(response, { number, body: '' });
  };
  const { exitCode, summary } = await ingest.send(content, '--concurrency', '1', '--fresh-ids');
  expect(ingest.received).toHaveLength(3);
  expect(new Set(ingest.received).size).toBe(1);
  expect(exitCode).toBe(0);
  expect(summary).toMatchObject({ accepted: 25, rejected: 0, requests: 3, retries: 2 });
});

test('--now shifts all times by one distance, so that the latest is now, and keeps every other byte', async () => {
  const times = [
    [1_000, 1_500.5],
    [5_000, 9_000],
    [2_000, 2_000],
  ];
  const timed = times.map(
    ([start, end], n) => `{"id":"e${n}", "endTimeMs" : ${end},"n":9007199254740993,"startTimeMs":${start}}`,
  );
  const others = ['{"id":"no times"}', '{"id":"wrong","startTimeMs":"1"}'];
  const before = Date.now();
  await ingest.send([...timed, ...others].join('\n'), '--now', '--concurrency', '1');
  const sent = sentLines().map((line) => JSON.parse(line));
  const shift = sent[1].endTimeMs - 9_000;
  expect(sent[1].endTimeMs).toBeGreaterThanOrEqual(before);
  expect(sent[1].endTimeMs).toBeLessThanOrEqual(Date.now());
  expect(sentLines()).toEqual([
    ...timed.map((line) =>
      line.replaceAll(/(TimeMs" ?: ?)([\d.]+)/g, (_, name, time) => `${name}${Number(time) + shift}`),
    ),
    ...others,
  ]);
});

test('--fresh-ids replaces every id with a unique one, and keeps every other byte', async () => {
  await ingest.send(content, '--fresh-ids');
  const ids: string[] = sentLines().map((line) => JSON.parse(line).id);
  expect(new Set(ids).size).toBe(25);
  expect(sentLines().map((line, n) => line.replace(ids[n] ?? '', `e${n}`))).toEqual(lines);
});

test('a permanent error is not retried, is counted with its reason, and fails the command', async () => {
  ingest.respond = (response, request) => {
    if (request.body.includes('"e0"')) refuse(response, 402, 'usage_limit_exceeded');
    else if (request.body.includes('"e24"')) refuse(response, 404, 'not_found');
    else accept(response, request);
  };
  const { exitCode, summary, stderr } = await ingest.send(content, '--batch', '5');
  expect(exitCode).toBe(1);
  expect(ingest.received).toHaveLength(5);
  expect(summary).toMatchObject({ accepted: 15, rejected: 10, requests: 5, retries: 0 });
  expect(summary.errors).toHaveLength(2);
  expect(summary.errors).toEqual(
    expect.arrayContaining([
      { status: 402, id: 'usage_limit_exceeded', details: 'usage_limit_exceeded, it says', events: 5 },
      { status: 404, id: 'not_found', details: 'not_found, it says', events: 5 },
    ]),
  );
  expect(stderr).toContain('5 × 402 usage_limit_exceeded: usage_limit_exceeded, it says');
});

describe('when Weir is not ready for as long as a request is retried', () => {
  const stopAfter = (requests: number) => {
    ingest.received = [];
    ingest.respond = (response, request) => {
      if (request.number < requests) accept(response, request);
      else refuse(response, 503, 'ingest_unavailable');
    };
  };
  const options = ['--batch', '5', '--concurrency', '1', '--retry-for', '0'];

  test.each([[[]], [['--fresh-ids']]])('the same command continues, with the same ids: %j', async (more) => {
    const file = `nonsense\n${content}`;
    stopAfter(2);
    const first = await ingest.send(file, ...options, ...more);
    expect(first).toMatchObject({ exitCode: 1, summary: { accepted: 10, rejected: 1 } });
    expect(first.summary.stopped).toMatchObject({ status: 503, id: 'ingest_unavailable' });
    expect(first.stderr).toContain('Run the same command again to continue.');
    const sent = ingest.received;
    stopAfter(100);
    const second = await ingest.send(file, ...options, ...more);
    expect(second.stderr).toContain('Continuing after line 11: 10 events were accepted before.');
    // The third request was not accepted: it is repeated byte for byte.
    expect(ingest.received[0]).toBe(sent[2]);
    expect(ingest.received).toHaveLength(3);
    expect(second).toMatchObject({ exitCode: 1, summary: { accepted: 25, rejected: 1, requests: 3 } });
    expect(second.summary.errors[0].details).toMatch(/^Line 1: /);
    const ids = [...sent.slice(0, 2), ...ingest.received]
      .flatMap(eventTexts)
      .map((text) => JSON.parse(text).id);
    expect(new Set(ids).size).toBe(25);
    ingest.received = [];
    expect((await ingest.send(file, ...options, ...more)).summary.requests).toBe(5);
  });

  test.each([
    ['--restart', content, ['--restart'], 5],
    ['other options', content, ['--fresh-ids'], 5],
    ['another file', `${content}{"id":"more"}\n`, [], 6],
  ])('it begins again with %s', async (_, file, more, requests) => {
    stopAfter(2);
    await ingest.send(content, ...options);
    stopAfter(100);
    expect((await ingest.send(file, ...options, ...more)).summary).toMatchObject({ requests });
  });
});

test('a wrong key is one error for all events', async () => {
  ingest.respond = (response) => refuse(response, 401, 'unauthorized');
  const { exitCode, summary } = await ingest.send(content, '--batch', '5');
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 25, errors: [{ status: 401, events: 25 }] });
});

test('a line that is not an event is reported with its number, and the other lines are sent', async () => {
  const { exitCode, summary } = await ingest.send(`${lines[0]}\nnonsense\n\n${lines[1]}`);
  expect(exitCode).toBe(1);
  expect(sentLines()).toEqual([lines[0], lines[1]]);
  expect(summary).toMatchObject({ accepted: 2, rejected: 1 });
  expect(summary.errors).toEqual([
    {
      status: 400,
      id: 'invalid_request_body',
      details: expect.stringMatching(/^Line 2: .*not sent/),
      events: 1,
    },
  ]);
});

test('an empty file is no failure', async () => {
  expect(await ingest.send('')).toMatchObject({
    exitCode: 0,
    summary: { accepted: 0, rejected: 0, requests: 0, p50Ms: 0 },
  });
});

test('a missing file, and no system to send to, are reported in one sentence', async () => {
  const noFile = await runWeir([
    'send',
    join(ingest.directory, 'none'),
    '--url',
    'http://127.0.0.1:9',
    '--key',
    'k',
  ]);
  expect(noFile).toMatchObject({ exitCode: 1, stdout: '' });
  expect(noFile.stderr).toMatch(/^weir: There is no file .*none\.\n$/);
  const noSystem = await runWeir(['send', join(ingest.directory, 'none')]);
  expect(noSystem).toMatchObject({ exitCode: 1, stdout: '' });
  expect(noSystem.stderr).toMatch(/^weir: Nothing was started .*`weir start`.*--url and --key\.\n$/);
});
