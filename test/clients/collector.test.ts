import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { buildTimeoutMs, PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { buildCollector } from '../../harness/tools/collector.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { quarantine, traceNodes } from '../../store/db/schema.ts';
import { type Collector, startCollector } from '../support/otlp/collector.ts';
import type { ObservedSpan, ObservedTrace } from '../support/otlp/observed-trace.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countUsage, until, untilDrained, untilResolved } from '../support/wait.ts';

/**
 * Spans through a Collector of OpenTelemetry that is killed: each in a request of its own, in any order, some
 * twice. COLLECTOR_SECONDS sets for how long they are sent, and COLLECTOR_SEED what is sent.
 */

const seconds = Number(process.env.COLLECTOR_SECONDS ?? 20);
const seed = Number(process.env.COLLECTOR_SEED ?? 1);
const requestsPerSecond = 25;
const senders = 6;
/** The spans of a trace are sent within this time, in any order; one of ten is sent later. */
const spreadMs = 4_000;
const lateMs = 15_000;
/** Longest time between two kills. */
const killEveryMs = Math.min(40_000, (seconds * 1_000) / 3);

interface Send {
  readonly atMs: number;
  readonly observed: ObservedSpan;
}

const { pipeline } = usePipeline();
const missing = findMissingTool(['go']);
if (missing !== undefined) console.warn(`No Collector is built: ${missing}`);

test.skipIf(missing !== undefined)(
  'through a Collector that is killed, each call is one event with its agent, thread, user and parent',
  { timeout: buildTimeoutMs + seconds * 1_000 + 300_000 },
  async (context) => {
    const binary = await buildCollector().catch((error) => {
      if (!(error instanceof PackagesUnreachableError)) throw error;
      return context.skip('its modules cannot be downloaded');
    });
    const { spaceId, apiKey } = await pipeline.createTenant();
    const random = createRandom(seed);
    const { traces, sends } = planSends(random);
    await using collector = await startCollector(binary, { url: pipeline.url, apiKey });
    const kills = await sendAll(collector, sends, random);
    const spans = new Set(sends.map(({ observed }) => observed)).size;
    await untilArrived(spaceId, spans);
    const expected = traces.flatMap((trace) => trace.events);
    const mismatches = await findMismatches(pipeline.database, spaceId, expected);
    const counts = { requests: sends.length, spans, events: expected.length, kills };
    console.warn(JSON.stringify({ seed, seconds, ...counts, mismatches: mismatches.length }));
    expect(mismatches).toEqual([]);
    expect(kills).toBeGreaterThan(0);
    expect(await countUsage(pipeline, spaceId)).toBe(expected.length);
    expect(await pipeline.database.$count(quarantine)).toBe(0);
  },
);

/** Traces of all kinds in turn, and when each of their spans is sent: once, and one of five twice. */
function planSends(random: Random): { traces: ObservedTrace[]; sends: Send[] } {
  const traces: ObservedTrace[] = [];
  const sends: Send[] = [];
  const delay = () => random.between(0, random.between(0, 9) === 0 ? lateMs : spreadMs);
  while (sends.length < seconds * requestsPerSecond) {
    const kind = traceKinds[traces.length % traceKinds.length] ?? 'chain';
    const startMs = (sends.length * 1_000) / requestsPerSecond;
    const trace = observeTrace(random, kind, traces.length);
    traces.push(trace);
    for (const observed of trace.spans)
      for (let left = random.between(0, 4) === 0 ? 2 : 1; left > 0; left--)
        sends.push({ atMs: startMs + delay(), observed });
  }
  return { traces, sends: sends.sort((a, b) => a.atMs - b.atMs) };
}

/** Sends everything at its time, and kills the Collector meanwhile. @returns how often it was killed. */
async function sendAll(collector: Collector, sends: readonly Send[], random: Random): Promise<number> {
  const started = performance.now();
  const waiting = sends.values();
  const sending = Array.from({ length: senders }, async () => {
    for (const { atMs, observed } of waiting) {
      await sleep(Math.max(0, started + atMs - performance.now()));
      await post(collector.url, observed);
    }
  });
  const ended = new AbortController();
  let kills = 0;
  const killing = async () => {
    for (;;) {
      await sleep(random.between(killEveryMs / 2, killEveryMs), undefined, { signal: ended.signal });
      await collector.restart();
      kills += 1;
    }
  };
  const killed = killing().catch((error) => {
    if (!ended.signal.aborted) throw error;
  });
  await Promise.race([Promise.all(sending), killed]);
  ended.abort();
  await killed;
  return kills;
}

/** Sends until it is accepted, as exporters do. */
async function post(url: string, { span, library }: ObservedSpan): Promise<void> {
  const body = toProtobuf({ scope: { name: library }, spans: [span] });
  const headers = { 'content-type': 'application/x-protobuf' };
  await until(async () => {
    const response = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    await response?.arrayBuffer().catch(() => {});
    return response?.ok === true;
  }, 60_000);
}

/** Waits until the Collector has sent all spans, and Weir has stored and related them. */
async function untilArrived(spaceId: string, spans: number): Promise<void> {
  let arrived = 0;
  await until(
    async () => {
      arrived = await pipeline.database.$count(traceNodes, eq(traceNodes.spaceId, spaceId));
      return arrived >= spans;
    },
    120_000,
    () => `${arrived} of ${spans} spans arrived`,
  );
  await untilDrained(pipeline);
  await untilResolved(pipeline.sql, spaceId);
}
