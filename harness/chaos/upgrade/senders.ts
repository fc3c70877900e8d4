import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { Status_State } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { Weir } from '../../../sdk/typescript/src/index.ts';
import type { Journal } from '../load/journal.ts';
import type { Tenant } from '../load/tenants.ts';

/** A client other than those of the load, which sends until it is stopped. */
export interface Sender {
  readonly name: string;
  /** The requests that were accepted so far. */
  accepted(): number;
  /** Sends what is left. @throws Error when something was given up. */
  stop(): Promise<void>;
}

export interface SenderOptions {
  url: string;
  tenant: Tenant;
  journal: Journal;
}

const pauseMs = 20;
const flushTimeoutMs = 60_000;

/** Repeats a step until the sender is stopped. */
export function repeat(step: () => Promise<void>): () => Promise<void> {
  let isStopping = false;
  const running = (async () => {
    while (!isStopping) {
      await step();
      await sleep(pauseMs);
    }
  })();
  // An error is thrown by the stop.
  running.catch(() => {});
  return async () => {
    isStopping = true;
    await running;
  };
}

/**
 * The TypeScript SDK, which retries by itself. Every event that it takes must be accepted.
 *
 * @param root the checkout whose SDK it is; undefined for this one.
 */
export async function startSdk(
  { url, tenant, journal }: SenderOptions,
  name: string,
  root?: string,
): Promise<Sender> {
  const Recorder: typeof Weir =
    root === undefined ? Weir : (await import(join(root, 'sdk/typescript/src/index.ts'))).Weir;
  let batches = 0;
  const weir = new Recorder({
    url,
    apiKey: tenant.apiKey,
    flushOnExit: false,
    fetch: async (target, init) => {
      try {
        const response = await fetch(target, init);
        journal.recordStatus(response.status);
        return response;
      } catch (error) {
        journal.recordNoResponse(name, error);
        throw error;
      }
    },
    onAccepted({ eventIds }) {
      batches += 1;
      journal.record(tenant.spaceId, eventIds, 'accepted');
    },
  });
  const stop = repeat(async () => {
    const llm = { model: 'gpt-4o', input: { prompt: 'Hello' }, output: { response: 'Hi!' } };
    weir.record({ type: 'llm', durationMs: 12, properties: { llm } });
  });
  return {
    name,
    accepted: () => batches,
    async stop() {
      await stop();
      await weir.shutdown({ timeoutMs: flushTimeoutMs });
      const { dropped, pending } = weir.stats();
      if (dropped + pending > 0) throw new Error(`${name} did not deliver ${dropped + pending} events`);
    },
  };
}

/** Protobuf over gRPC and HTTP/2. */
export function startGrpc({ url, tenant, journal }: SenderOptions): Sender {
  const client = createClient(IngestService, createGrpcTransport({ baseUrl: url }));
  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  let accepted = 0;
  const send = async (id: string): Promise<boolean> => {
    try {
      await client.ingestEvents({ events: [protobufEvent(id)] }, { headers, timeoutMs: 10_000 });
      return true;
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      // A stream that crossed with a GOAWAY. It was not processed, and clients may send it again (RFC 9113
      // §8.7).
      if (error.message.includes('REFUSED_STREAM')) return false;
      // An error of Weir has details, one of the connection has none.
      if (error.details.length > 0) journal.recordStatus(503);
      else journal.recordNoResponse('gRPC', error);
      return false;
    }
  };
  const stop = repeat(async () => {
    const id = randomUUID();
    while (!(await send(id))) await sleep(pauseMs);
    journal.recordStatus(202);
    journal.record(tenant.spaceId, [id], 'accepted');
    accepted += 1;
  });
  return { name: 'protobuf over gRPC', accepted: () => accepted, stop };
}

function protobufEvent(id: string) {
  const nowMs = Date.now();
  return {
    id,
    startTimeMs: nowMs - 10,
    endTimeMs: nowMs,
    durationMs: 10,
    status: { state: Status_State.OK },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'openai' },
    context: { userId: 'user-1' },
    additionalProperties: {},
    payload: { case: 'llm' as const, value: { model: 'gpt-4o' } },
  };
}
