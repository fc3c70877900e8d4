import { count } from 'drizzle-orm';
import { readArchiveState, readLastBackup } from '../../operations/storage/backup-state.ts';
import { defineBoundCounters } from '../../platform/metrics/bound-counter.ts';
import { defineCounter, defineGauge, defineHistogram } from '../../platform/metrics/define.ts';
import { figureReuseMs, secondsBuckets } from '../../platform/metrics/limits.ts';
import { shareResult } from '../../platform/shared-result.ts';
import type { Database } from '../../store/db/database.ts';
import { quarantine } from '../../store/db/schema.ts';
import type { QueueFigures } from '../../store/queue-state/queue-figures.ts';
import { readResolveLag } from '../../store/traces/unresolved-traces.ts';
import type { StoreResult } from '../../store/write/store.ts';
import type { FailedNode } from './parts/failed-nodes.ts';

const statements = defineHistogram({
  name: 'weir_writer_statement_duration_seconds',
  help: 'Duration of storing a group of messages, by outcome: stored, locked (another transaction has the rows), failed.',
  labelNames: ['outcome'],
  buckets: secondsBuckets,
});
const busy = defineGauge({
  name: 'weir_writer_lanes_busy',
  help: 'Connections that store events now, of WRITER_CONNECTIONS.',
});
const events = defineBoundCounters({
  name: 'weir_writer_events_total',
  help: 'Events of stored messages, by result. Duplicates were stored before.',
  labelNames: ['result'],
});
const acceptedToStored = defineHistogram({
  name: 'weir_accepted_to_stored_seconds',
  help: 'Time from the arrival of a message in the queue until its events are committed.',
  buckets: secondsBuckets,
});
const redeliveries = defineCounter({
  name: 'weir_queue_redeliveries_total',
  help: 'Messages that were delivered again.',
  labelNames: ['stream'],
});

// rate() misses the first increment of a counter that did not exist before.
const eventsBy = {
  inserted: events.bind({ result: 'inserted' }),
  duplicate: events.bind({ result: 'duplicate' }),
  quarantined: events.bind({ result: 'quarantined' }),
};
const statementsBy = {
  stored: statements.labels({ outcome: 'stored' }),
  locked: statements.labels({ outcome: 'locked' }),
  failed: statements.labels({ outcome: 'failed' }),
};

/** Shows the counters of a stream before their first increment. */
export function registerStream(stream: string): void {
  redeliveries.inc({ stream }, 0);
}

/** The worker counts as busy meanwhile. */
export async function whileBusy(run: () => Promise<void>): Promise<void> {
  busy.inc();
  await run().finally(() => busy.dec());
}

export function countStatement(outcome: keyof typeof statementsBy, startedMs: number): void {
  statementsBy[outcome].observe((performance.now() - startedMs) / 1_000);
}

export function countEvents(total: number, { inserted, quarantined }: StoreResult): void {
  eventsBy.inserted.add(inserted);
  eventsBy.quarantined.add(quarantined);
  eventsBy.duplicate.add(total - inserted - quarantined);
}

/** @param queuedAtMs by the clock of nats-server, which may be ahead of ours. */
export function countStoredMessage(queuedAtMs: number): void {
  acceptedToStored.observe(Math.max(0, Date.now() - queuedAtMs) / 1_000);
}

export function countRedelivery(stream: string): void {
  redeliveries.inc({ stream });
}

/** Shows the figures of the queue, of quarantine and of failed nodes, as they are when they are scraped. */
export function registerStateMetrics(
  database: Database,
  readQueue: () => Promise<QueueFigures[]>,
  failedNodes: () => readonly FailedNode[],
): void {
  defineQueueGauges(readQueue);
  defineSingleGauge(
    'weir_quarantine_events',
    'Events that Postgres rejected and that are not replayed yet.',
    async () => (await database.select({ entries: count() }).from(quarantine))[0]?.entries,
  );
  defineSingleGauge(
    'weir_backup_age_seconds',
    'Age of the last verified backup. There is no sample before the first one.',
    async () => (await readLastBackup(database))?.ageSeconds,
  );
  defineSingleGauge(
    'weir_archive_behind_bytes',
    'WAL that Postgres keeps because it is not archived yet. There is no sample without an archive.',
    async () => (await readArchiveState(database)).behindBytes ?? undefined,
  );
  defineSingleGauge(
    'weir_trace_unresolved_seconds',
    'How long the oldest trace has waited for its relations to be resolved: agents, threads and users of its events, and calls that several spans describe.',
    () => readResolveLag(database),
  );
  defineGauge({
    name: 'weir_writer_node_waiting_spaces',
    help: 'Spaces whose events wait in the queue because their node of the Citus cluster failed.',
    labelNames: ['node'],
    collect() {
      this.reset();
      for (const { node, spaceIds } of failedNodes()) this.set({ node }, spaceIds.size);
    },
  });
}

function defineQueueGauges(readQueue: () => Promise<QueueFigures[]>): void {
  const gauge = (name: string, help: string, read: (figures: QueueFigures) => number) =>
    defineGauge({
      name,
      help,
      labelNames: ['stream'],
      async collect() {
        // No sample is better than an old one.
        this.reset();
        const streams = await readQueue().catch(() => []);
        for (const figures of streams) this.set({ stream: figures.stream }, read(figures));
      },
    });
  gauge('weir_queue_pending_messages', 'Messages that are not stored yet.', (one) => one.messages);
  gauge(
    'weir_queue_oldest_pending_seconds',
    'Age of the oldest message that is not stored yet.',
    (one) => one.oldestSeconds,
  );
  gauge(
    'weir_queue_bytes_ratio',
    'Used share of the queue, with the replay window, which takes half of it at most. At 1 ingest answers 503.',
    (one) => one.bytesRatio,
  );
  gauge(
    'weir_queue_window_seconds',
    'Age of the oldest message that is kept for a replay.',
    (one) => one.windowSeconds,
  );
}

/** A gauge without labels. While `read` fails or returns undefined, it has no sample. */
function defineSingleGauge(name: string, help: string, read: () => Promise<number | undefined>): void {
  const readShared = shareResult(figureReuseMs, read);
  defineGauge({
    name,
    help,
    async collect() {
      this.reset();
      const value = await readShared().catch(() => undefined);
      if (value !== undefined) this.set(value);
    },
  });
}
