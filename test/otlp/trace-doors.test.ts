import { expect, test } from 'vitest';
import { toOtlpJson, toProtobuf } from '../../harness/fixtures/spans.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { runWeir } from '../support/cli/command-line.ts';
import type { ObservedSpan } from '../support/otlp/observed-trace.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';
import type { Tenant } from '../support/pipeline.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countUsage, untilDrained, untilResolved } from '../support/wait.ts';

/** Traces through ingest, nats-server and the writer: test/otlp/trace-order.test.ts has more of them, without the processes between. */

const { pipeline } = usePipeline();

/** Ingest publishes what is larger than 64 KB once it is compressed, after the spans of the same request. */
const paddings = [100, 2_000, 70_000, 200_000] as const;

/** Adds text to the calls, as long prompts do. */
function pad(random: Random, { span, library }: ObservedSpan): ObservedSpan {
  const { attributes = {} } = span;
  const isCall = 'openinference.span.kind' in attributes || 'gen_ai.operation.name' in attributes;
  if (!isCall) return { span, library };
  const size = random.between(0, 3) === 0 ? random.pick(paddings) : paddings[0];
  const padding = Array.from({ length: size / 10 }, () => random.between(0, 999_999_999)).join(' ');
  return { span: { ...span, attributes: { ...attributes, padding } }, library };
}

type Door = readonly [path: string, type: string, encode: typeof toProtobuf];

/** OTLP over HTTP and over an RPC, in both encodings. */
const doors: readonly [Door, ...Door[]] = [
  ['/v1/traces', 'application/x-protobuf', toProtobuf],
  ['/v1/traces', 'application/json', toOtlpJson],
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'application/proto', toProtobuf],
];

async function send(random: Random, { apiKey }: Tenant, spans: readonly ObservedSpan[]): Promise<void> {
  const [path, type, encode] = random.pick(doors);
  const byLibrary = Map.groupBy(spans, ({ library }) => library);
  const body = encode(
    ...Array.from(byLibrary, ([name, own]) => ({ scope: { name }, spans: own.map(({ span }) => span) })),
  );
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type };
  const { status } = await fetch(`${pipeline.url}${path}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  expect(status).toBe(200);
}

/** Random requests with all spans, a fifth of them twice: exporters retry, and a Collector may send to two. */
function cut(random: Random, spans: readonly ObservedSpan[]): ObservedSpan[][] {
  const shuffled = shuffle(random, spans);
  const requests: ObservedSpan[][] = [];
  while (shuffled.length > 0) requests.push(shuffled.splice(0, random.between(1, 5)));
  return shuffle(random, [...requests, ...requests.filter(() => random.between(0, 4) === 0)]);
}

function shuffle<T>(random: Random, list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: random.between(0, 1_000_000) }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Sends requests over random doors, three at a time. */
async function sendAll(random: Random, tenant: Tenant, requests: readonly ObservedSpan[][]): Promise<void> {
  const waiting = [...requests];
  const next = async () => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop())
      await send(random, tenant, request);
  };
  await Promise.all([next(), next(), next()]);
}

async function untilSettled({ spaceId }: Tenant): Promise<void> {
  await untilDrained(pipeline);
  await untilResolved(pipeline.sql, spaceId);
}

test.each([1, 2])(
  'traces in random requests over any door are as sent at once, and an erasure finds all of a user, for good: %s',
  async (seed) => {
    const random = createRandom(seed);
    const observed = traceKinds.map((kind, number) => observeTrace(random, kind, number));
    const expected = observed.flatMap(({ events }) => events);
    const spans = observed.flatMap((trace) => trace.spans.map((span) => pad(random, span)));
    const [pieces, whole] = [await pipeline.createTenant(), await pipeline.createTenant()];
    const requests = cut(random, spans);
    await sendAll(random, pieces, requests);
    await send(random, whole, spans);
    for (const tenant of [pieces, whole]) {
      await untilSettled(tenant);
      expect(await findMismatches(pipeline.database, tenant.spaceId, expected)).toEqual([]);
      expect(await countUsage(pipeline, tenant.spaceId)).toBe(expected.length);
    }
    const gone = expected[0]?.userId ?? '';
    const args = ['erase', '--space', pieces.spaceId, '--user', gone, '--yes'];
    const { stdout } = await runWeir(args, pipeline.variables);
    const [erased, others] = [true, false].map((is) =>
      expected.filter(({ userId }) => (userId === gone) === is),
    );
    expect(JSON.parse(stdout).erased.events).toBe(erased?.length);
    await sendAll(random, pieces, shuffle(random, requests));
    await untilSettled(pieces);
    expect(await findMismatches(pipeline.database, pieces.spaceId, others ?? [])).toEqual([]);
  },
);
