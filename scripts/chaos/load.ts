import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../lib/access/api-key.ts';
import { deliver } from '../../lib/client/deliver.ts';
import { openPost, type Post } from '../../lib/client/post.ts';
import type { Random } from '../../lib/random.ts';
import { type Batch, Batches, type BatchOptions } from './batches.ts';
import { openEventSource } from './event-source.ts';
import type { Journal } from './journal.ts';
import type { System } from './system.ts';
import { createTenant, type Tenant } from './tenants.ts';

export interface LoadOptions extends BatchOptions {
  clients: number;
  /** Each client rests up to so long between two batches; 0 is the full load. */
  pauseMsMax: number;
}

/** Full load, as far as the machine's other half, the system itself, leaves room for it. */
export const fullLoad: LoadOptions = { clients: 8, eventsMax: 60, repeatPercent: 25, pauseMsMax: 0 };

const tenantCount = 3;

/** Ingest answers within `pubAckTimeoutMs` and `queueReturnTimeoutMs`; a paused one does not. */
const answerTimeoutMs = 10_000;

/** How long a client goes on trying one batch: longer than any fault lasts. One of five gives up at once. */
const retryForMs = 300_000;
const giveUpPercent = 20;

/** Single events that are sent so often, and never again, show to a few milliseconds when ingest accepts. */
const probeIntervalMs = 25;

/** The clients of one round. */
export interface Load {
  readonly tenants: readonly [Tenant, ...Tenant[]];
  /**
   * Sends one request with these events, once, and journals it. Successive ones go to the ingests in turn.
   *
   * @param deserved statuses beside 202 and 503 that are right.
   * @returns the status; 0 when there was no answer.
   */
  send(tenant: Tenant, ids: readonly string[], deserved?: readonly number[]): Promise<number>;
  /** Ends it: nothing new is sent, and what is being retried is retried to its end. */
  stop(): Promise<void>;
}

export interface LoadDependencies {
  system: System;
  journal: Journal;
  random: Random;
}

/** Makes spaces and keys, and starts several clients that send until they are stopped. */
export async function startLoad(
  { system, journal, random }: LoadDependencies,
  options: LoadOptions,
): Promise<Load & AsyncDisposable> {
  const tenants: [Tenant, ...Tenant[]] = [await createTenant(system)];
  while (tenants.length < tenantCount) tenants.push(await createTenant(system));
  const source = openEventSource(random);
  const batches = new Batches(tenants, source, random, options);
  const lines = new Lines(system.ingestUrls, options.clients);
  let stopping = false;
  let turn = 0;

  const runClient = async (home: number) => {
    while (!stopping) {
      const batch = batches.next();
      const retries = random.between(1, 100) > giveUpPercent ? retryForMs : 0;
      const post = lines.postFrom(home, batch.tenant.apiKey);
      await Promise.all(
        Array.from({ length: batch.copies }, () => deliverJournaled(journal, post, batch, retries)),
      );
      if (options.pauseMsMax > 0) await sleep(random.between(0, options.pauseMsMax));
    }
  };
  const runProbe = async (home: number) => {
    while (!stopping) {
      const post = lines.postTo(home, tenants[0].apiKey);
      await deliverJournaled(journal, post, batches.single(tenants[0]), 0);
      await sleep(probeIntervalMs);
    }
  };
  const runStranger = async () => {
    while (!stopping) {
      const post = lines.postFrom(0, createApiKey());
      await deliverJournaled(journal, post, { ...batches.single(tenants[0]), deserves: 401 }, 0);
      await sleep(10 * probeIntervalMs);
    }
  };
  const running = [
    ...Array.from({ length: options.clients }, (_, i) => runClient(i)),
    ...system.ingestUrls.map((_, i) => runProbe(i)),
    runStranger(),
  ];
  const stop = async () => {
    stopping = true;
    await Promise.all(running);
  };
  return {
    tenants,
    send(tenant, ids, deserved = []) {
      const post = lines.postTo(turn++, tenant.apiKey);
      return sendJournaled(journal, post, { tenant, ids, body: source.makeBody(ids) }, deserved);
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await lines[Symbol.asyncDispose]();
    },
  };
}

/** Keep-alive connections to every ingest, for every key. */
class Lines implements AsyncDisposable {
  readonly #urls: readonly string[];
  readonly #connections: number;
  readonly #open = new Map<string, ReturnType<typeof openPost>>();

  constructor(urls: readonly string[], connections: number) {
    this.#urls = urls;
    this.#connections = connections;
  }

  /** To one ingest. */
  postTo(index: number, apiKey: string): Post {
    const url = this.#urls[index % this.#urls.length] ?? '';
    const name = `${url} ${apiKey}`;
    let line = this.#open.get(name);
    if (line === undefined) {
      line = openPost({ url, apiKey, connections: 2 * this.#connections, timeoutMs: answerTimeoutMs });
      this.#open.set(name, line);
    }
    return line.post;
  }

  /** To one ingest, and on to the next whenever one does not answer, as a load balancer or a client's list does. */
  postFrom(home: number, apiKey: string): Post {
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
    await Promise.all([...this.#open.values()].map((line) => line[Symbol.asyncDispose]()));
  }
}

/** Sends a batch as our SDKs do (contract §7), and journals every try. */
async function deliverJournaled(
  journal: Journal,
  post: Post,
  batch: Batch,
  retryForMs: number,
): Promise<void> {
  const deserved = batch.deserves === undefined ? [] : [batch.deserves];
  await deliver(
    async (body) => {
      try {
        const answer = await post(body);
        noteAnswer(journal, batch, answer.status, answer.body, deserved);
        return answer;
      } catch (error) {
        noteAnswer(journal, batch, 0, '', deserved);
        throw error;
      }
    },
    batch.body,
    { retryForMs },
  );
}

async function sendJournaled(
  journal: Journal,
  post: Post,
  batch: Pick<Batch, 'tenant' | 'ids' | 'body'>,
  deserved: readonly number[],
): Promise<number> {
  const answer = await post(batch.body).catch(() => ({ status: 0, body: '' }));
  noteAnswer(journal, batch, answer.status, answer.body, deserved);
  return answer.status;
}

function noteAnswer(
  journal: Journal,
  { tenant, ids, deserves }: Pick<Batch, 'tenant' | 'ids' | 'deserves'>,
  status: number,
  body: string,
  deserved: readonly number[],
): void {
  journal.noteStatus(status);
  const isRight =
    status === 0 || status === 503 || deserved.includes(status) || (status === 202 && deserves === undefined);
  if (!isRight) journal.unexpected.push(`${status}: ${body.slice(0, 200)}`);
  if (status === 202) journal.note(tenant.spaceId, ids, 'accepted');
  else if (status === 0 || status >= 500) journal.note(tenant.spaceId, ids, 'unknown');
  else journal.note(tenant.spaceId, ids, 'refused');
}
