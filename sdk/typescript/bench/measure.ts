import { fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Weir } from '../src/index.ts';
import { answerHere } from './answers.ts';
import { benchEvent } from './event.ts';

export type SdkFigures = {
  /** `record()` itself. */
  recordMicroseconds: number;
  /** CPU time on the event loop for one event, including its share of a request. */
  eventMicroseconds: number;
  /** CPU time that observing adds to a call with a response of 6 KB: whole, and as a stream of 60 chunks. */
  callMicroseconds: number;
  streamMicroseconds: number;
  /** Median time that observing adds until the first chunk. */
  firstChunkMs: number;
  /** Memory of the SDK at its bounds: with many small events, and with large ones. */
  smallBoundBytes: number;
  largeBoundBytes: number;
};

const eventBytes = 6 * 1024;

/** Measures the cost of the SDK in this process. Weir and the provider run in another one. */
export async function measureSdk(): Promise<SdkFigures> {
  const peer = fork(pathOf('peer.ts'));
  const [port] = await once(peer, 'message');
  const url = `http://127.0.0.1:${port}`;
  const weir = new Weir({ url, apiKey: 'key', flushOnExit: false });
  await recordMany(weir, 2_000);
  const { recordMicroseconds, eventMicroseconds } = await recordMany(weir, 8_000);
  const here = weir.fetch({}, answerHere);
  await callMany(url, here, false, 1_000);
  const calls = await compare((send) => callMany(url, send, false, 1_000), answerHere, here);
  const streams = await compare((send) => callMany(url, send, true, 500), answerHere, here);
  const first = await compare((send) => firstChunk(url, send, 300), fetch, weir.fetch());
  await weir.shutdown();
  peer.disconnect();
  return {
    recordMicroseconds,
    eventMicroseconds,
    callMicroseconds: calls,
    streamMicroseconds: streams,
    firstChunkMs: first,
    smallBoundBytes: await measureBounds(700),
    largeBoundBytes: await measureBounds(64 * 1024),
  };
}

async function recordMany(weir: Weir, count: number) {
  const events = Array.from({ length: 500 }, () => benchEvent(eventBytes));
  const start = threadMicroseconds();
  let recorded = 0;
  for (let done = 0; done < count; done += events.length) {
    const before = threadMicroseconds();
    for (const event of events) weir.record(event);
    recorded += threadMicroseconds() - before;
    await weir.flush();
  }
  const all = threadMicroseconds() - start;
  return { recordMicroseconds: recorded / count, eventMicroseconds: all / count };
}

/** CPU time of this thread, without other processes and without compression, which runs on other threads. */
function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

type Send = typeof fetch;

/** The median difference of five alternating pairs. */
async function compare(
  measure: (send: Send) => Promise<number>,
  bare: Send,
  observed: Send,
): Promise<number> {
  const differences: number[] = [];
  for (let round = 0; round < 5; round++)
    differences.push(-(await measure(bare)) + (await measure(observed)));
  return differences.sort((a, b) => a - b)[2] ?? Number.NaN;
}

/** @returns the CPU time on the event loop for a call, in microseconds. */
async function callMany(url: string, send: Send, stream: boolean, count: number): Promise<number> {
  const start = threadMicroseconds();
  for (let call = 0; call < count; call++) {
    await (await post(url, send, stream)).text();
    // Yield to the event loop: the provider in this process never does, unlike sockets.
    if (call % 100 === 0) await new Promise(setImmediate);
  }
  return (threadMicroseconds() - start) / count;
}

/** @returns the median time until the first chunk of a stream, in milliseconds. */
async function firstChunk(url: string, send: Send, count: number): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < count; call++) {
    const start = performance.now();
    const reader = (await post(url, send, true)).body?.getReader();
    await reader?.read();
    times.push(performance.now() - start);
    while (!(await reader?.read())?.done);
  }
  return times.sort((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN;
}

function post(url: string, send: Send, stream: boolean): Promise<Response> {
  const messages = [{ role: 'user', content: 'How warm is it in Bern? '.repeat(40) }];
  return send(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-bench', stream, messages }),
  });
}

async function measureBounds(bytes: number): Promise<number> {
  const child = fork(pathOf('bounds.ts'), [String(bytes)], { execArgv: ['--expose-gc'] });
  const [figures] = await once(child, 'message');
  return figures.bytes;
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
