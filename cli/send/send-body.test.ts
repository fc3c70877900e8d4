import { expect, test } from 'vitest';
import { accept, eventTexts, IngestStub, type Respond, refuse } from '../../test/support/cli/ingest-stub.ts';

const ingest = new IngestStub();
const lines = Array.from({ length: 25 }, (_, n) => `{"id":"e${n}"}`);

/** Rejects a batch with an invalid event as ingest does, and names the first one by its index. */
const refuseBad: Respond = (response, request) => {
  const events: { bad?: boolean }[] = JSON.parse(request.body).events;
  const first = events.findIndex(({ bad }) => bad);
  if (first === -1) accept(response, request);
  else refuse(response, 400, 'invalid_event_batch', `events[${first}].bad must be false (and 1 more)`);
};
const badAt = (line: number) => ({
  status: 400,
  id: 'invalid_event_batch',
  details: `Line ${line}: bad must be false (and 1 more)`,
  events: 1,
});
const numbered = (count: number, isBad: (line: number) => boolean) =>
  Array.from({ length: count }, (_, n) => `{"id":"e${n}", "n":9007199254740993, "bad":${isBad(n + 1)}}`);

test('of a thousand events only the three invalid ones are rejected, and named by their lines', async () => {
  const accepted: string[] = [];
  ingest.respond = (response, request) => {
    if (!request.body.includes('"bad":true')) accepted.push(...eventTexts(request.body));
    refuseBad(response, request);
  };
  const file = numbered(1_000, (line) => [17, 499, 1_000].includes(line));
  const { exitCode, summary, stderr } = await ingest.send(file.join('\n'));
  expect(exitCode).toBe(1);
  expect(accepted.toSorted()).toEqual(file.filter((line) => !line.includes('true')).toSorted());
  expect(summary).toMatchObject({ accepted: 997, rejected: 3, retries: 0, requests: ingest.received.length });
  expect(summary.errors).toHaveLength(3);
  expect(summary.errors).toEqual(expect.arrayContaining([17, 499, 1_000].map(badAt)));
  expect(ingest.received.length).toBeLessThanOrEqual(2 + 3 * 2 * Math.ceil(Math.log2(500)));
  expect(stderr).toContain('1 × 400 invalid_event_batch: Line 17: bad must be false');
});

test('a file of invalid events takes fewer than two requests for each event', async () => {
  ingest.respond = refuseBad;
  const { exitCode, summary } = await ingest.send(numbered(90, () => true).join('\n'));
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 90, requests: 2 * 90 - 1 });
  expect(summary.errors).toHaveLength(90);
  expect(summary.errors).toEqual(expect.arrayContaining(Array.from({ length: 90 }, (_, n) => badAt(n + 1))));
});

test('a single invalid event is sent once, and named by its line', async () => {
  ingest.respond = refuseBad;
  const { exitCode, summary } = await ingest.send(`\n\n${numbered(1, () => true)}\n`);
  expect(exitCode).toBe(1);
  expect(ingest.received).toHaveLength(1);
  expect(summary).toMatchObject({ accepted: 0, rejected: 1, errors: [badAt(3)] });
});

test('only the line that merely looks like an event is rejected', async () => {
  ingest.respond = (response, request) => {
    if (request.body.includes('nonsense')) refuse(response, 400, 'invalid_request_body');
    else accept(response, request);
  };
  const { summary } = await ingest.send([...lines, '{"id" nonsense}'].join('\n'), '--fresh-ids');
  expect(summary).toMatchObject({ accepted: 25, rejected: 1, errors: [{ id: 'invalid_request_body' }] });
  expect(summary.errors[0].details).toMatch(/^Line 26: /);
});

test('a batch that is too large is split; a single event that is too large is named by its line', async () => {
  ingest.respond = (response, request) => {
    if (request.body.length > 200) response.writeHead(413).end('<html>a proxy with a limit of its own');
    else accept(response, request);
  };
  const { summary } = await ingest.send([...lines, `{"id":"big","text":"${'x'.repeat(200)}"}`].join('\n'));
  expect(summary).toMatchObject({ accepted: 25, rejected: 1 });
  expect(summary.errors).toEqual([
    { status: 413, id: 'unexpected_answer', details: expect.stringMatching(/^Line 26: <html>/), events: 1 },
  ]);
});

test('a 503 in the middle of a split is retried, and no event is rejected for it', async () => {
  ingest.respond = (response, request) => {
    if (request.number === 2) refuse(response, 503, 'ingest_unavailable');
    else refuseBad(response, request);
  };
  const { summary } = await ingest.send(numbered(4, (line) => line === 1).join('\n'));
  expect(summary).toMatchObject({ accepted: 3, rejected: 1, errors: [badAt(1)], requests: 6, retries: 1 });
});
