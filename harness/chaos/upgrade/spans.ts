import { randomBytes, randomUUID } from 'node:crypto';
import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { sendWithRetry } from '../../../cli/client/send-with-retry.ts';
import { toOtlpJson } from '../../fixtures/spans.ts';
import type { System } from '../../system/system.ts';
import { untilResolved } from '../../wait.ts';
import { Journal } from '../load/journal.ts';
import { findDiscrepancies } from '../verify/invariants.ts';
import { repeat, type Sender, type SenderOptions } from './senders.ts';

/** An exporter of OTLP spans that checks what became of its traces. */
export interface SpanSender extends Sender {
  /** Sets whether traces that begin from now on get relations: not while an old ingest runs. */
  setRelated(isRelated: boolean): void;
  /** Compares the database with what was accepted. Returns violations as sentences. */
  verify(): Promise<string[]>;
}

const retryForMs = 60_000;

/**
 * Sends traces of two spans in two requests: first the call of a model, then the agent above it. Each request
 * is sent twice, as by a Collector with two routes: it may reach both versions, which must make the same
 * event of a span.
 */
export function startSpans(system: System, { url, tenant, journal }: SenderOptions): SpanSender {
  const client = openIngestClient({
    url,
    path: '/v1/traces',
    apiKey: tenant.apiKey,
    connections: 2,
    timeoutMs: 10_000,
  });
  /** Whether the agent of a trace must be known, by the trace's UUID. */
  const traces = new Map<string, boolean>();
  let isRelated = false;
  let accepted = 0;
  const post = async (body: Uint8Array) => {
    const { error } = await sendWithRetry(
      async (bytes) => {
        const response = await client.post(bytes).catch((failure: unknown) => {
          journal.recordNoResponse('OTLP', failure);
          throw failure;
        });
        journal.recordStatus(response.status);
        return response;
      },
      body,
      {
        retryForMs,
        describeResponse: ({ status, body: text }) =>
          status === 200 ? undefined : { status, id: 'otlp', details: text },
      },
    );
    if (error !== undefined) throw new Error(`spans were refused: ${error.status} ${error.details}`);
    accepted += 1;
  };
  const stop = repeat(async () => {
    const uuid = randomUUID();
    const wasRelated = isRelated;
    for (const body of requestsOf(uuid)) await Promise.all([post(body), post(body)]);
    traces.set(uuid, wasRelated && isRelated);
  });
  return {
    name: 'OTLP',
    accepted: () => accepted,
    setRelated(given) {
      isRelated = given;
    },
    async stop() {
      await stop();
      await client[Symbol.asyncDispose]();
    },
    verify: () => findWrongTraces(system, tenant.spaceId, traces),
  };
}

/** @param uuid the trace's: a UUIDv4 is a valid trace id without its dashes, and Weir shows it as it is. */
function requestsOf(uuid: string): Buffer[] {
  const trace = { traceId: uuid.replaceAll('-', '') };
  const [agent, call] = [spanId(), spanId()];
  const usage = { 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };
  const callAttributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o', ...usage };
  const agentAttributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' };
  return [
    toOtlpJson({ spans: [{ ...trace, spanId: call, parentSpanId: agent, attributes: callAttributes }] }),
    toOtlpJson({
      spans: [{ ...trace, spanId: agent, name: 'invoke_agent planner', attributes: agentAttributes }],
    }),
  ];
}

const spanId = () => randomBytes(8).toString('hex');

async function findWrongTraces(
  system: System,
  spaceId: string,
  traces: ReadonlyMap<string, boolean>,
): Promise<string[]> {
  await untilResolved(system.sql, spaceId);
  const rows = await system.sql<{ id: string; traceId: string; agentId: string | null }[]>`
    SELECT id, trace_id AS "traceId", agent_id AS "agentId" FROM events WHERE space_id = ${spaceId}`;
  const byTrace = Map.groupBy(rows, ({ traceId }) => traceId);
  const found = { lost: 0, doubled: 0, unrelated: [] as string[] };
  for (const [uuid, isRelated] of traces) {
    const events = byTrace.get(uuid) ?? [];
    if (events.length === 0) found.lost += 1;
    if (events.length > 1) found.doubled += 1;
    if (isRelated && events.some(({ agentId }) => agentId === null)) found.unrelated.push(uuid);
  }
  const related = [...traces.values()].filter(Boolean).length;
  // Their ids are Weir's: the rows must agree with usage, statistics and the ledger.
  const known = new Journal();
  known.record(
    spaceId,
    rows.map(({ id }) => id),
    'accepted',
  );
  const { miscounted } = await findDiscrepancies(system, known);
  return [
    ...(found.lost > 0 ? [`the calls of ${found.lost} traces are lost`] : []),
    ...(found.doubled > 0 ? [`the calls of ${found.doubled} traces are stored more than once`] : []),
    ...(found.unrelated.length > 0
      ? [`the calls of ${found.unrelated.length} of ${related} traces have no agent: ${found.unrelated[0]}`]
      : []),
    ...(related === 0 ? ['no trace was sent to ingests of the new version alone'] : []),
    ...(miscounted > 0 ? [`usage or statistics of spans are wrong by ${miscounted} events`] : []),
  ];
}
