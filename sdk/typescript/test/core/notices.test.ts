import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { Weir, type WeirOptions } from '../../src/index.ts';
import { llmEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { VirtualRuntime } from '../support/virtual-runtime.ts';
import { refuse, WeirStub } from '../support/weir-stub.ts';

/* What the console says about delivery, and that it says it once. */

let stub: WeirStub;
let runtime: VirtualRuntime;
let warn: MockInstance<typeof console.warn>;
beforeEach(async () => {
  stub = await WeirStub.start();
  runtime = new VirtualRuntime();
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(async () => {
  warn.mockRestore();
  await stub.close();
});

const open = (options: WeirOptions = {}) =>
  new Weir({ url: stub.url, apiKey: 'weir_key', flushOnExit: false, runtime, ...options });
const said = () => warn.mock.calls.map(([text]) => text);

test.each([
  [
    404,
    "This is Weir's dashboard. Events go to ingest: http://i",
    {},
    /is not Weir's ingest: check WEIR_URL.*This is Weir's dashboard/,
  ],
  [404, '', {}, /is not Weir's ingest: check WEIR_URL, or the option url \(status 404\)\. Events are kept/],
  [301, '', { location: 'https://elsewhere' }, /status 301: It redirects to https:\/\/elsewhere/],
  [
    401,
    'The key is revoked.',
    {},
    /refuses the API key \(status 401: The key is revoked\.\)\. Events are dropped/,
  ],
  [402, 'Used up.', {}, /takes no more events at present .*Used up\./],
])('%i (%s) is said once', async (status, details, headers, text) => {
  stub.respond = (_, response) => refuse(response, status, details, headers);
  const weir = open();
  for (let flush = 0; flush < 3; flush++) {
    weir.record(llmEvent());
    await weir.flush();
    await runtime.advance(60_000);
  }
  expect(said()).toEqual([expect.stringMatching(text)]);
});

test('flush() says once that events are pending, and why', async () => {
  await stub.close();
  const weir = open();
  weir.record(llmEvent());
  for (let flush = 0; flush < 2; flush++) {
    const flushing = weir.flush({ timeoutMs: 5_000 });
    await eventually(async () => {
      await runtime.advance(100);
      expect(said()).toHaveLength(1);
    });
    expect(await flushing).toMatchObject({ pending: 1 });
  }
  expect(said()).toEqual([expect.stringMatching(/http:\S+ has not taken 1 events \(ECONNREFUSED\)\./)]);
});

test('a rejected event is said once with the reason, unless onDrop reports it', async () => {
  stub.respond = ({ events }, response) =>
    events.length > 0 && refuse(response, 400, 'events[0].context.userId must be a string');
  const weir = open();
  for (let i = 0; i < 3; i++) weir.record(llmEvent());
  await weir.flush();
  expect(said()).toEqual([expect.stringMatching(/events dropped: 1 \(rejected: events\[0\]\.context/)]);
  const told = open({ onDrop: () => {} });
  told.record(llmEvent());
  await told.flush();
  expect(said()).toHaveLength(1);
});

test('while the address is wrong, events expire like those of an outage', async () => {
  stub.respond = (_, response) => refuse(response, 404);
  const weir = open();
  weir.record(llmEvent());
  expect(await weir.flush()).toMatchObject({ pending: 1 });
  await eventually(async () => {
    await runtime.advance(60_000);
    expect(weir.stats()).toMatchObject({ pending: 0, droppedByReason: { expired: 1 } });
  });
});
