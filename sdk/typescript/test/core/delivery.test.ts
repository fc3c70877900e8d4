import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type DropReport, type Receipt, Weir, type WeirOptions } from '../../src/index.ts';
import { llmEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { VirtualRuntime } from '../support/virtual-runtime.ts';
import { refuse, WeirStub } from '../support/weir-stub.ts';

let stub: WeirStub;
let runtime: VirtualRuntime;
beforeEach(async () => {
  stub = await WeirStub.start();
  runtime = new VirtualRuntime();
});
afterEach(() => stub.close());

const open = (options: WeirOptions = {}) =>
  new Weir({ url: stub.url, apiKey: 'weir_key', flushOnExit: false, runtime, ...options });

const record = (weir: Weir, count: number, prompt?: string) =>
  Array.from({ length: count }, () => weir.record(llmEvent(prompt)));

/** Responds to the first requests with these statuses, and accepts all later ones. */
function answerOnce(
  ...answers: [status: number, details?: string, headers?: Record<string, string>][]
): void {
  stub.respond = (request, response) => {
    const answer = answers[stub.requests.indexOf(request)];
    return answer && refuse(response, ...answer);
  };
}

const requestsAre = (count: number) => eventually(() => expect(stub.requests).toHaveLength(count));

test('events are sent after a second, in one request, with everything that the contract requires', async () => {
  const weir = open();
  const ids = record(weir, 3);
  await runtime.advance(999);
  expect(weir.stats()).toMatchObject({ recorded: 3, pending: 3 });
  await runtime.advance(1);
  await eventually(() => expect(weir.stats().accepted).toBe(3));
  expect(stub.requests).toHaveLength(1);
  expect(stub.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer weir_key',
    'content-type': 'application/json',
  });
  expect(stub.events.map(({ id }) => id)).toEqual(ids);
  expect(stub.events[0]).toMatchObject({
    id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
    type: 'llm',
    durationMs: 12,
    status: { state: 'ok' },
    instrumentation: { vendor: 'weir', source: 'test', sourcePackage: 'test' },
    context: {},
    additionalProperties: {},
  });
});

test('an event that has to be truncated is sent even if no other event follows', async () => {
  const weir = open();
  record(weir, 1, 'x'.repeat(5 * 1024 ** 2));
  await eventually(async () => {
    await runtime.advance(1_000);
    expect(weir.stats()).toMatchObject({ accepted: 1, truncated: 1 });
  });
});

test('a hundred events, or a mebibyte, are sent at once', async () => {
  const weir = open();
  record(weir, 100);
  await runtime.advance(0);
  await requestsAre(1);
  await eventually(() => expect(weir.stats().pending).toBe(0));
  record(weir, 2, 'x'.repeat(600_000));
  await runtime.advance(0);
  await requestsAre(2);
});

test('events that come during a request wait for the next one', async () => {
  const weir = open();
  let release = () => {};
  stub.respond = async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return false;
  };
  record(weir, 1);
  await runtime.advance(1_000);
  await requestsAre(1);
  record(weir, 5);
  release();
  await eventually(() => expect(weir.stats().accepted).toBe(1));
  await eventually(() => expect(runtime.nextTimerMs).toBe(1_000));
  expect(stub.requests).toHaveLength(1);
  await runtime.advance(1_000);
  await requestsAre(2);
  release();
});

test('batches hold at most 500 events and 4 MiB', async () => {
  const weir = open();
  record(weir, 1_100);
  record(weir, 5, 'x'.repeat(1_500_000));
  expect(await weir.flush()).toEqual({ accepted: 1_105, dropped: 0, pending: 0 });
  for (const { events, text } of stub.requests) {
    expect(events.length).toBeLessThanOrEqual(500);
    expect(text.length).toBeLessThanOrEqual(4 * 1024 ** 2);
  }
  expect(stub.requests.map(({ events }) => events.length)).toEqual([500, 500, 102, 2, 1]);
});

test.each([1, 10])('a body of %i events is gzipped, so that its checksum detects damage', async (count) => {
  const weir = open();
  record(weir, count);
  await weir.flush();
  expect(stub.requests[0]?.headers['content-encoding']).toBe('gzip');
});

test.each([408, 429, 500, 502, 503, 504, 200])('%i is retried with the same ids', async (status) => {
  const weir = open();
  answerOnce([status]);
  const ids = record(weir, 2);
  await runtime.advance(1_000);
  await requestsAre(1);
  await eventually(() => expect(runtime.nextTimerMs).toBe(125));
  await runtime.advance(125);
  await eventually(() => expect(weir.stats().accepted).toBe(2));
  expect(stub.requests.map(({ events }) => events.map(({ id }) => id))).toEqual([ids, ids]);
});

test('waits are random, and grow up to 30 s', async () => {
  const weir = open();
  stub.respond = (_, response) => refuse(response, 503);
  record(weir, 1);
  await runtime.advance(1_000);
  const waits: (number | undefined)[] = [];
  for (let failure = 1; failure <= 9; failure++) {
    await requestsAre(failure);
    await eventually(() => expect(runtime.nextTimerMs).toBeGreaterThan(0));
    waits.push(runtime.nextTimerMs);
    await runtime.advance(runtime.nextTimerMs ?? 0);
  }
  expect(waits).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
});

test.each([
  ['2', 2_000],
  ['9999', 300_000],
])('Retry-After: %s is followed, up to five minutes, by flush() too', async (header, waitMs) => {
  const weir = open();
  answerOnce([503, '', { 'retry-after': header }]);
  record(weir, 1);
  await runtime.advance(1_000);
  await eventually(() => expect(runtime.nextTimerMs).toBe(waitMs + 125));
  expect(await weir.flush({ timeoutMs: 1_000 })).toMatchObject({ pending: 1 });
  expect(stub.requests).toHaveLength(1);
  await runtime.advance(waitMs + 125);
  await eventually(() => expect(weir.stats().accepted).toBe(1));
});

test('a connection that breaks is retried', async () => {
  const weir = open();
  stub.respond = (_, response) => (stub.requests.length === 1 ? Boolean(response.destroy()) : undefined);
  record(weir, 1);
  await runtime.advance(1_000);
  await eventually(() => expect(runtime.nextTimerMs).toBe(125));
  await runtime.advance(125);
  await eventually(() => expect(weir.stats().accepted).toBe(1));
});

test('a bad event that the response names is dropped, and the rest is sent again', async () => {
  const reports: DropReport[] = [];
  const weir = open({ onDrop: (report) => reports.push(report) });
  const ids = record(weir, 20);
  stub.respond = ({ events }, response) => {
    const index = events.findIndex(({ id }) => id === ids[7] || id === ids[17]);
    return index === -1
      ? undefined
      : refuse(response, 400, `events[${index}].durationMs must be a number (and 3 more)`);
  };
  expect(await weir.flush()).toEqual({ accepted: 18, dropped: 2, pending: 0 });
  expect(stub.events.map(({ id }) => id)).toEqual(ids.filter((id) => id !== ids[7] && id !== ids[17]));
  expect(stub.requests).toHaveLength(3);
  await weir.shutdown();
  expect(reports).toEqual([
    { dropped: { rejected: 2 }, details: 'events[16].durationMs must be a number (and 3 more)' },
  ]);
});

test('many bad events, or bad ones that are not named, are found by bisection', async () => {
  const weir = open();
  const ids = record(weir, 64);
  const bad = new Set(ids.filter((_, index) => index % 3 === 0));
  stub.respond = ({ events }, response) => {
    const index = events.findIndex(({ id }) => bad.has(id));
    return index === -1
      ? undefined
      : refuse(response, 400, stub.requests.length % 2 ? `events[${index}] is bad` : 'It is bad.');
  };
  expect(await weir.flush()).toEqual({ accepted: 64 - bad.size, dropped: bad.size, pending: 0 });
  expect(stub.events.map(({ id }) => id)).toEqual(ids.filter((id) => !bad.has(id)));
});

test('repeated damage of bodies in transit loses no event', async () => {
  const weir = open();
  stub.respond = (_, response) =>
    stub.requests.length % 8 ? refuse(response, 400, 'The body is not valid gzip data.') : undefined;
  const ids = record(weir, 5);
  expect(await weir.flush()).toEqual({ accepted: 5, dropped: 0, pending: 0 });
  expect(stub.events.map(({ id }) => id)).toEqual(ids);
});

test('a 413 of a proxy halves the batch, and drops a single event that is still too large', async () => {
  const weir = open();
  record(weir, 6);
  weir.record(llmEvent('x'.repeat(20_000)));
  stub.respond = ({ text }, response) => (text.length > 1_500 ? refuse(response, 413) : undefined);
  expect(await weir.flush()).toEqual({ accepted: 6, dropped: 1, pending: 0 });
  expect(weir.stats().droppedByReason).toEqual({ too_large: 1 });
});

test.each([
  [401, 'unauthorized'],
  [402, 'quota'],
] as const)('%i drops and pauses; an empty batch probes every minute', async (status, reason) => {
  const weir = open();
  stub.respond = (_, response) => refuse(response, status);
  record(weir, 700);
  expect(await weir.flush()).toEqual({ accepted: 0, dropped: 700, pending: 0 });
  // The second request is the probe.
  expect(stub.requests.map(({ events }) => events.length)).toEqual([500, 0]);
  record(weir, 1);
  expect(weir.stats().droppedByReason).toEqual({ [reason]: 701 });
  await runtime.advance(0);
  for (let probe = 3; probe <= 4; probe++) {
    await eventually(() => expect(runtime.nextTimerMs).toBe(60_000));
    await runtime.advance(60_000);
    await requestsAre(probe);
    expect(stub.requests.at(-1)?.events).toEqual([]);
  }
  stub.respond = () => undefined;
  await eventually(() => expect(runtime.nextTimerMs).toBe(60_000));
  await runtime.advance(60_000);
  await eventually(async () => {
    record(weir, 1);
    expect(await weir.flush()).toEqual({ accepted: 1, dropped: 0, pending: 0 });
  });
});

test.each([401, 402, 400])(
  'a single %i, the response to a damaged request, drops nothing',
  async (status) => {
    const weir = open();
    answerOnce([status, 'It is damaged.']);
    record(weir, status === 400 ? 1 : 3);
    await eventually(async () => {
      await runtime.advance(1_000);
      expect(weir.stats()).toMatchObject({ pending: 0, dropped: 0 });
    });
  },
);

test('events are not dropped at once when the URL is wrong', async () => {
  const weir = open();
  answerOnce([404]);
  record(weir, 1);
  expect(await weir.flush()).toEqual({ accepted: 0, dropped: 0, pending: 1 });
  await runtime.advance(60_000);
  await eventually(() => expect(weir.stats().accepted).toBe(1));
});

test('a redirect is not followed', async () => {
  const weir = open();
  stub.respond = (_, response) => refuse(response, 307, '', { location: `${stub.url}/elsewhere` });
  record(weir, 1);
  expect(await weir.flush()).toMatchObject({ pending: 1 });
  expect(stub.requests).toHaveLength(1);
});

test('undelivered events are dropped after ten minutes in memory', async () => {
  const weir = open();
  stub.respond = (_, response) => refuse(response, 503);
  record(weir, 3);
  await runtime.advance(1_000);
  await requestsAre(1);
  await runtime.advance(11 * 60_000);
  record(weir, 1);
  await eventually(async () => {
    await runtime.advance(30_000);
    expect(weir.stats().droppedByReason).toEqual({ expired: 3 });
  });
});

test('memory is bounded by count and by bytes; the newest events are dropped', async () => {
  const reports: DropReport[] = [];
  const weir = open({ onDrop: (report) => reports.push(report) });
  const ids = record(weir, 10_050);
  expect(weir.stats()).toMatchObject({ pending: 10_000, droppedByReason: { queue_full: 50 } });
  await runtime.advance(0);
  expect(reports).toEqual([{ dropped: { queue_full: 50 }, details: undefined }]);
  await weir.flush({ timeoutMs: 60_000 });
  expect(stub.events.map(({ id }) => id)).toEqual(ids.slice(0, 10_000));
  record(weir, 40, 'x'.repeat(1024 ** 2));
  expect(weir.stats().pending).toBe(31);
});

test('onDrop is called at most once in ten seconds', async () => {
  const reports: DropReport[] = [];
  const weir = open({ onDrop: (report) => reports.push(report), mask: () => null });
  for (let second = 0; second < 25; second++) {
    record(weir, 1);
    await runtime.advance(1_000);
  }
  expect(reports.map(({ dropped }) => dropped.masked)).toEqual([1, 9, 10]);
});

test('receipts list the durable events', async () => {
  const receipts: Receipt[] = [];
  const weir = open({ onAccepted: (receipt) => receipts.push(receipt) });
  const eventIds = record(weir, 2);
  await weir.flush();
  expect(receipts).toEqual([{ eventIds, batchId: 'batch-1' }]);
});

test('nothing is thrown into the application, whatever its callbacks do', async () => {
  const fail = () => {
    throw new Error('from the application');
  };
  const weir = open({ onDrop: fail, onAccepted: fail, mask: fail });
  record(weir, 2);
  expect(await weir.flush()).toMatchObject({ accepted: 2 });
  await weir.shutdown();
  expect(() => record(weir, 1)).not.toThrow();
  expect(weir.stats().droppedByReason).toEqual({ disabled: 1 });
});

test.each([
  [{ apiKey: '' }, /WEIR_API_KEY/],
  [{ apiKey: 'k\n' }, /characters/],
  [{ url: 'nowhere' }, /not a URL/],
])('without a valid key and URL nothing is recorded, with one warning', async (options, message) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const weir = open(options);
  record(weir, 2);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(message)]]);
  expect(weir.isEnabled).toBe(false);
  expect(await weir.shutdown()).toMatchObject({ accepted: 0, pending: 0 });
  warn.mockRestore();
});
