import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { postEvents } from '../support/http.ts';
import type { ProcessPipeline, Tenant } from '../support/pipeline.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countUsage, until, untilDrained } from '../support/wait.ts';

const { pipeline } = useProcessPipeline();

/**
 * The outcomes that a client records: accepted ids, ids with an unknown outcome, and unexpected responses.
 */
interface Journal {
  accepted: Set<string>;
  unknown: Set<string>;
  unexpected: unknown[];
}

/** Sends batches until stopped, and records every outcome. */
async function keepSending(
  pipeline: ProcessPipeline,
  tenant: Tenant,
  journal: Journal,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const events = someEvents(20);
    const ids = events.map(({ id }) => String(id));
    const answer = await postEvents(pipeline, tenant, events).catch(() => undefined);
    if (answer?.status === 202) for (const id of ids) journal.accepted.add(id);
    else for (const id of ids) journal.unknown.add(id);
    if (answer !== undefined && answer.status !== 202 && answer.status !== 503)
      journal.unexpected.push(answer.body);
    // Enough load to hit every moment of a fault, but not so much that it slows down the restarts.
    await sleep(answer === undefined ? 50 : 10);
  }
}

const faults: Record<string, (pipeline: ProcessPipeline) => Promise<void>> = {
  async 'nats-server is killed'(pipeline) {
    process.kill(pipeline.nats.pid, 'SIGKILL');
    await pipeline.nats.exited;
    pipeline.nats = { ...pipeline.nats, ...(await pipeline.nats.restart()), restart: pipeline.nats.restart };
  },
  async 'the writer is killed'(pipeline) {
    await pipeline.writer.stop('SIGKILL');
    pipeline.writer = await pipeline.start('writer');
  },
  async 'ingest is killed'(pipeline) {
    await pipeline.ingest.stop('SIGKILL');
    const port = new URL(pipeline.url).port;
    pipeline.ingest = await pipeline.start('ingest', { INGEST_PORT: port });
  },
  async 'every connection to Postgres is terminated'(pipeline) {
    await pipeline.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'weir-%'`;
  },
  async 'the writer is stopped'(pipeline) {
    await pipeline.writer.stop('SIGTERM');
    pipeline.writer = await pipeline.start('writer');
  },
};

test.each(Object.entries(faults))(
  'when %s under load, every accepted event is stored once',
  async (_, inject) => {
    const tenant = await pipeline.createTenant();
    const journal: Journal = { accepted: new Set(), unknown: new Set(), unexpected: [] };
    let isOver = false;
    const clients = Array.from({ length: 4 }, () => keepSending(pipeline, tenant, journal, () => isOver));
    for (let times = 0; times < 2; times++) {
      const acceptedBefore = journal.accepted.size;
      await until(() => journal.accepted.size > acceptedBefore + 400);
      await inject(pipeline);
    }
    const acceptedBefore = journal.accepted.size;
    await until(() => journal.accepted.size > acceptedBefore + 100);
    isOver = true;
    await Promise.all(clients);
    await untilDrained(pipeline);

    const rows = await pipeline.sql<
      { id: string }[]
    >`SELECT id FROM events WHERE space_id = ${tenant.spaceId}`;
    const stored = new Set(rows.map(({ id }) => id));
    expect([...journal.accepted].filter((id) => !stored.has(id))).toEqual([]);
    expect([...stored].filter((id) => !journal.accepted.has(id) && !journal.unknown.has(id))).toEqual([]);
    expect(await countUsage(pipeline, tenant.spaceId)).toBe(stored.size);
    expect(journal.unexpected).toEqual([]);
    expect(await pipeline.sql`SELECT id FROM quarantine`).toEqual([]);
  },
);

// This test must be the last: it stops the services for good.
test('SIGTERM under load: every response is a 202, and both services exit with code 0', async () => {
  const tenant = await pipeline.createTenant();
  const statuses: (number | undefined)[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const answer = await postEvents(pipeline, tenant, someEvents(50)).catch(() => undefined);
      statuses.push(answer?.status);
      if (answer === undefined) return;
    }
  });
  await until(() => statuses.length > 50);
  expect(await pipeline.ingest.stop('SIGTERM')).toBe(0);
  isOver = true;
  await Promise.all(clients);
  expect(statuses.filter((status) => status !== undefined && status !== 202)).toEqual([]);
  expect(await pipeline.writer.stop('SIGTERM')).toBe(0);
});
