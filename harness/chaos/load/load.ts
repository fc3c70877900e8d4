import { setTimeout as sleep } from 'node:timers/promises';
import { openIngestClient, type Post } from '../../../cli/client/ingest-client.ts';
import { sendWithRetry } from '../../../cli/client/send-with-retry.ts';
import { createApiKey } from '../../../store/accounts/api-key.ts';
import type { Random } from '../../random.ts';
import type { System } from '../../system/system.ts';
import { type Batch, BatchGenerator, type BatchOptions } from './batches.ts';
import { openEventSource } from './event-source.ts';
import type { Journal } from './journal.ts';
import { createReleasedTenant, createTenant, type Tenant } from './tenants.ts';

export interface LoadOptions extends BatchOptions {
  clients: number;
  /** The maximum pause of a client between two batches; 0 is the full load. */
  pauseMsMax: number;
}

/** The load that saturates a machine with two cores, on which the system runs too. */
export const fullLoad: LoadOptions = { clients: 8, eventsMax: 60, repeatPercent: 25, pauseMsMax: 0 };

const tenantCount = 3;

/** Longer than ingest takes to respond (`pubAckTimeoutMs`, `reconnectTimeoutMs`), unless it is paused. */
const responseTimeoutMs = 10_000;

/** How long a client retries one batch: longer than any fault. 20% of the batches are not retried. */
const retryForMs = 300_000;
const giveUpPercent = 20;

/**
 * Single events, sent this often and never retried, measure when ingest accepts to within some milliseconds.
 */
const probeIntervalMs = 25;

/** The clients of one round. */
export interface Load {
  readonly tenants: readonly [Tenant, ...Tenant[]];
  /**
   * Sends one request with these ids, without retries, and records it. The ingests get requests in turn.
   *
   * @param expected statuses that are correct besides 202 and 503.
   * @returns the status; 0 when there was no response.
   */
  send(tenant: Tenant, ids: readonly string[], expected?: readonly number[]): Promise<number>;
  /** Stops the clients; retries in progress are completed. */
  stop(): Promise<void>;
}

export interface LoadDependencies {
  system: System;
  journal: Journal;
  random: Random;
}

/** Creates spaces and keys, and starts clients that send until they are stopped. */
export async function startLoad(
  { system, journal, random }: LoadDependencies,
  options: LoadOptions,
): Promise<Load & AsyncDisposable> {
  const { released } = system;
  const newTenant = () => (released ? createReleasedTenant(released) : createTenant(system));
  const tenants: [Tenant, ...Tenant[]] = [await newTenant()];
  while (tenants.length < tenantCount) tenants.push(await newTenant());
  const source = openEventSource(random);
  const batches = new BatchGenerator(tenants, source, random, options);
  const pools = new ConnectionPools(system.ingestUrls, options.clients);
  let stopping = false;
  let turn = 0;

  const runClient = async (home: number) => {
    while (!stopping) {
      const batch = batches.next();
      const retries = random.between(1, 100) > giveUpPercent ? retryForMs : 0;
      const post = pools.postWithFailover(home, batch.tenant.apiKey);
      await Promise.all(
        Array.from({ length: batch.copies }, () => sendRecorded(journal, post, batch, retries)),
      );
      if (options.pauseMsMax > 0) await sleep(random.between(0, options.pauseMsMax));
    }
  };
  const runProbe = async (home: number) => {
    while (!stopping) {
      const post = pools.postTo(home, tenants[0].apiKey);
      await sendRecorded(journal, post, batches.single(tenants[0]), 0);
      await sleep(probeIntervalMs);
    }
  };
  const runUnknownKeys = async () => {
    while (!stopping) {
      const post = pools.postWithFailover(0, createApiKey());
      await sendRecorded(journal, post, { ...batches.single(tenants[0]), expectedError: 401 }, 0);
      await sleep(10 * probeIntervalMs);
    }
  };
  const running = [
    ...Array.from({ length: options.clients }, (_, i) => runClient(i)),
    ...system.ingestUrls.map((_, i) => runProbe(i)),
    runUnknownKeys(),
  ];
  const stop = async () => {
    stopping = true;
    await Promise.all(running);
  };
  return {
    tenants,
    async send(tenant, ids, expected = []) {
      const body = source.makeBody(ids);
      const { status, body: text } = await pools
        .postTo(
          turn++,
          tenant.apiKey,
        )(body)
        .catch(() => ({ status: 0, body: '' }));
      recordResponse(journal, { tenant, ids }, { status, text, expected });
      return status;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await pools[Symbol.asyncDispose]();
    },
  };
}

/** Keep-alive connections to every ingest for every key. */
class ConnectionPools implements AsyncDisposable {
  readonly #urls: readonly string[];
  readonly #connections: number;
  readonly #open = new Map<string, ReturnType<typeof openIngestClient>>();

  constructor(urls: readonly string[], connections: number) {
    this.#urls = urls;
    this.#connections = connections;
  }

  /** Posts to one ingest. */
  postTo(index: number, apiKey: string): Post {
    const url = this.#urls[index % this.#urls.length] ?? '';
    const name = `${url} ${apiKey}`;
    let client = this.#open.get(name);
    if (client === undefined) {
      client = openIngestClient({
        url,
        apiKey,
        connections: 2 * this.#connections,
        timeoutMs: responseTimeoutMs,
      });
      this.#open.set(name, client);
    }
    return client.post;
  }

  /** Posts to one ingest, and changes to the next whenever one does not respond, as a load balancer does. */
  postWithFailover(home: number, apiKey: string): Post {
    let index = home;
    return async (body) => {
      try {
        return await this.postTo(index, apiKey)(body);
      } catch (error) {
        index += 1;
        throw error;
      }
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((pool) => pool[Symbol.asyncDispose]()));
  }
}

/** Sends a batch with the retries of our SDKs (docs/api.md §7.1), and records every attempt. */
async function sendRecorded(journal: Journal, post: Post, batch: Batch, retryForMs: number): Promise<void> {
  const expected = batch.expectedError === undefined ? [] : [batch.expectedError];
  await sendWithRetry(
    async (body) => {
      try {
        const response = await post(body);
        recordResponse(journal, batch, { status: response.status, text: response.body, expected });
        return response;
      } catch (error) {
        journal.recordNoResponse('JSON', error);
        journal.record(batch.tenant.spaceId, batch.ids, 'unknown');
        throw error;
      }
    },
    batch.body,
    { retryForMs },
  );
}

function recordResponse(
  journal: Journal,
  { tenant, ids, expectedError }: Pick<Batch, 'tenant' | 'ids' | 'expectedError'>,
  { status, text, expected }: { status: number; text: string; expected: readonly number[] },
): void {
  journal.recordStatus(status);
  const isCorrect =
    status === 0 ||
    status === 503 ||
    expected.includes(status) ||
    (status === 202 && expectedError === undefined);
  if (!isCorrect) journal.unexpected.push(`${status}: ${text.slice(0, 200)}`);
  if (status === 202) journal.record(tenant.spaceId, ids, 'accepted');
  else if (status === 0 || status >= 500) journal.record(tenant.spaceId, ids, 'unknown');
  else journal.record(tenant.spaceId, ids, 'rejected');
}
