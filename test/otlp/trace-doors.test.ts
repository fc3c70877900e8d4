import { fromBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { toOtlpJson } from '../../harness/fixtures/spans.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { runWeir } from '../support/cli/command-line.ts';
import type { ObservedSpan } from '../support/otlp/observed-trace.ts';
import { cut, logOf, shuffle } from '../support/otlp/random-requests.ts';
import { readStored } from '../support/otlp/stored-space.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { toRequest } from '../support/otlp/trace-messages.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';
import type { Tenant } from '../support/pipeline.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countUsage, untilDrained, untilResolved } from '../support/wait.ts';

/**
 * Traces through ingest, nats-server and the writer: trace-order.test.ts has more of them, without the
 * processes between.
 */

const { pipeline } = useProcessPipeline();

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

type Send = (tenant: Tenant) => Promise<unknown>;
type SendSpans = (tenant: Tenant, spans: readonly ObservedSpan[]) => Promise<unknown>;

async function post({ apiKey }: Tenant, path: string, type: string, body: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type };
  const sent = { method: 'POST', headers, body: new Uint8Array(body) };
  expect((await fetch(`${pipeline.url}${path}`, sent)).status).toBe(200);
}

const rpcPath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** OTLP over HTTP, Connect and gRPC. */
const doors: readonly [SendSpans, ...SendSpans[]] = [
  (tenant, spans) => post(tenant, '/v1/traces', 'application/x-protobuf', toRequest(spans)),
  (tenant, spans) => {
    const byLibrary = Map.groupBy(spans, ({ library }) => library);
    const requests = Array.from(byLibrary, ([name, own]) => ({
      scope: { name },
      spans: own.map(({ span }) => span),
    }));
    return post(tenant, '/v1/traces', 'application/json', toOtlpJson(...requests));
  },
  (tenant, spans) => post(tenant, rpcPath, 'application/proto', toRequest(spans)),
  ({ apiKey }, spans) => {
    const client = createClient(TraceService, createGrpcTransport({ baseUrl: pipeline.url }));
    const message = fromBinary(ExportTraceServiceRequestSchema, toRequest(spans));
    return client.export(message, { headers: { authorization: `Bearer ${apiKey}` } });
  },
];

/** Sends requests in random order, a fifth of them twice, three at a time. The writer is killed at times. */
async function sendAll(random: Random, tenant: Tenant, requests: readonly Send[]): Promise<void> {
  const again = requests.filter(() => random.between(0, 4) === 0);
  const waiting = shuffle(random, [...requests, ...again]);
  const killedAt = new Set([1, 2].map(() => random.between(0, waiting.length)));
  const next = async () => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      await request(tenant);
      if (!killedAt.delete(waiting.length)) continue;
      await pipeline.writer.stop('SIGKILL');
      pipeline.writer = await pipeline.start('writer');
    }
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
    const spans = observed.flatMap((trace) => trace.spans.map((span) => pad(random, span)));
    const logged = observed.flatMap(({ events: [first] }) => (first?.type === 'llm' ? first : []));
    const logs = logged.map(
      (event): Send =>
        (tenant) =>
          post(tenant, '/v1/logs', 'application/x-protobuf', logOf(event)),
    );
    const expected = observed
      .flatMap(({ events }) => events)
      .map((event) => ({
        ...event,
        ...(logged.includes(event) && { merged: undefined, prompt: event.prompt ?? 'How warm?' }),
      }));
    const [pieces, whole] = [await pipeline.createTenant(), await pipeline.createTenant()];
    const cutAll = () =>
      cut(random, shuffle(random, spans)).map((own): Send => {
        const door = random.pick(doors);
        return (tenant) => door(tenant, own);
      });
    // A retry may be cut in another way.
    const requests = [...cutAll(), ...cutAll().filter(() => random.between(0, 3) === 0), ...logs];
    await sendAll(random, pieces, requests);
    await random.pick(doors)(whole, spans);
    for (const send of logs) await send(whole);
    for (const tenant of [pieces, whole]) {
      await untilSettled(tenant);
      expect(await findMismatches(pipeline.database, tenant.spaceId, expected)).toEqual([]);
      expect(await countUsage(pipeline, tenant.spaceId)).toBe(expected.length);
    }
    const [a, b] = [
      await readStored(pipeline.database, pieces.spaceId),
      await readStored(pipeline.database, whole.spaceId),
    ];
    // Which of several equal spans is the event depends on the order.
    expect({ ...a, events: a.events.length }).toEqual({ ...b, events: b.events.length });
    const gone = expected[0]?.userId ?? '';
    const args = ['erase', '--space', pieces.spaceId, '--user', gone, '--yes'];
    const { stdout } = await runWeir(args, pipeline.variables);
    const [erased, others] = [true, false].map((is) =>
      expected.filter(({ userId }) => (userId === gone) === is),
    );
    expect(JSON.parse(stdout).erased.events).toBe(erased?.length);
    await sendAll(random, pieces, requests);
    await untilSettled(pieces);
    expect(await findMismatches(pipeline.database, pieces.spaceId, others ?? [])).toEqual([]);
  },
);
