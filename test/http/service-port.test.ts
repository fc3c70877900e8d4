import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { createReadiness } from '../../platform/readiness.ts';
import { shownSpacesMax, stuckMs } from '../../services/writer/limits.ts';
import type { FailedNode } from '../../services/writer/parts/failed-nodes.ts';
import { createWriterProbes } from '../../services/writer/probes.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { postEvents } from '../support/http.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { startService } from '../support/service-process.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countRows, until, untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = useProcessPipeline();

const get = (service: ServiceProcess, path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.ready.metricsUrl}${path}`, { headers });
const statusOf = async (service: ServiceProcess, path: string) => (await get(service, path)).status;

/** The samples of a service, by name and labels. */
async function readMetrics(service: ServiceProcess): Promise<Map<string, number>> {
  const text = await (await get(service, '/metrics')).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
  );
}

test('the metrics count requests, events and statements, without a label for each space', async () => {
  const events = [llmEvent(), llmEvent()];
  expect((await postEvents(pipeline, tenant, events)).status).toBe(202);
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 2);
  expect((await postEvents(pipeline, tenant, [...events, llmEvent()])).status).toBe(202);
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 3);
  expect((await postEvents(pipeline, tenant, [{ type: 'none' }])).status).toBe(400);
  await untilDrained(pipeline);

  const ingest = await readMetrics(pipeline.ingest);
  const requests = (outcome: string) => `weir_ingest_requests_total{protocol="json",outcome="${outcome}"}`;
  expect(ingest.get(requests('accepted'))).toBe(2);
  expect(ingest.get(requests('invalid_event_batch'))).toBe(1);
  expect(ingest.get('weir_ingest_events_total{protocol="json"}')).toBe(5);
  expect(ingest.get('weir_ingest_body_bytes_total{encoding="identity"}')).toBeGreaterThan(100);
  expect(ingest.get('weir_queue_puback_duration_seconds_count{stream="WEIR_LOG"}')).toBe(2);
  expect(ingest.get('weir_ingest_group_batches_sum')).toBe(2);
  expect(ingest.get('weir_queue_loss{stream="WEIR_LOG"}')).toBe(0);
  expect(ingest.get('weir_ingest_in_flight_bytes')).toBe(0);
  await until(async () => {
    const writer = await readMetrics(pipeline.writer);
    return writer.get('weir_accepted_to_stored_seconds_count') === 2;
  });
  const writer = await readMetrics(pipeline.writer);
  expect(writer.get('weir_writer_events_total{result="inserted"}')).toBe(3);
  expect(writer.get('weir_writer_events_total{result="duplicate"}')).toBe(2);
  expect(writer.get('weir_quarantine_events')).toBe(0);
  expect(writer.get('weir_writer_lanes_busy')).toBe(0);
  expect(writer.has('weir_queue_pending_messages{stream="WEIR_LOG"}')).toBe(true);
  for (const metrics of [ingest, writer]) {
    // One sample may name a space: that of the one which takes most.
    const others = [...metrics.keys()].filter((key) => !key.startsWith('weir_busiest_space_ratio{'));
    expect(others.join('\n')).not.toContain(tenant.spaceId);
    expect(metrics.size - others.length).toBeLessThanOrEqual(1);
    expect(metrics.size).toBeLessThan(2_000);
    expect([...metrics.keys()].filter((key) => key.startsWith('weir_build_info'))).toHaveLength(1);
    expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(2 ** 24);
  }
});

test('a scraper gets the format that it asks for, and both name a counter alike', async () => {
  const openMetrics = await get(pipeline.ingest, '/metrics', { accept: 'application/openmetrics-text' });
  expect(openMetrics.headers.get('content-type')).toContain('application/openmetrics-text');
  const text = await openMetrics.text();
  expect(text).toMatch(/# EOF\n$/);
  expect(text).toContain('# TYPE weir_ingest_requests counter');
  const plain = await get(pipeline.ingest, '/metrics');
  expect(plain.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = await plain.text();
  expect(lines).toContain('# TYPE weir_ingest_requests_total counter');
  expect(lines).not.toContain('# EOF');
  expect(lines).toContain('\nweir_ingest_requests_total{');
});

test('the probes: live, ready and started; anything else is a 404', async () => {
  for (const service of [pipeline.ingest, pipeline.writer]) {
    for (const path of ['/livez', '/readyz', '/startupz']) expect(await statusOf(service, path)).toBe(200);
    expect(await statusOf(service, '/')).toBe(404);
  }
});

test('a writer is dead when it stores nothing although messages wait and Postgres and nats-server answer', async () => {
  await using nats = await connectQueue(pipeline.nats.url, 'test');
  const waiting = {
    stream: 'WEIR_LOG',
    messages: 1,
    oldestSeconds: stuckMs / 1_000,
    bytesRatio: 0,
    bytesMax: 1,
    windowSeconds: 0,
    nodes: [],
  };
  const longAgoMs = performance.now() - 2 * stuckMs;
  const failedNodes: FailedNode[] = [];
  const probesOf = (sql: typeof pipeline.sql, queue: (typeof waiting)[], lastStoredAtMs = longAgoMs) =>
    createWriterProbes({
      findUnready: createReadiness({ postgres: () => sql`SELECT 1`, nats: () => nats.flush() }),
      readQueue: async () => queue,
      lastStoredAtMs: () => lastStoredAtMs,
      failedNodes: () => failedNodes,
      startedAtMs: longAgoMs,
    });
  const findDead = async (...given: Parameters<typeof probesOf>) => probesOf(...given).findDead?.();
  expect(await findDead(pipeline.sql, [waiting])).toEqual(['store']);
  expect(await findDead(pipeline.sql, [])).toEqual([]);
  expect(await findDead(pipeline.sql, [{ ...waiting, oldestSeconds: 1 }])).toEqual([]);
  expect(await findDead(pipeline.sql, [waiting], performance.now())).toEqual([]);
  await using closed = openPostgres(pipeline.variables.DATABASE_URL ?? '', {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await closed.end();
  expect(await findDead(closed, [waiting])).toEqual([]);
  // A node of a cluster that failed is named with its spaces, and does not hide that the writer is stuck.
  const ids = Array.from({ length: shownSpacesMax + 2 }, () => randomUUIDv7());
  failedNodes.push({ node: 'db-2:5432', spaceIds: new Set(ids) });
  expect(await probesOf(pipeline.sql, []).findUnready()).toEqual([
    `postgres node db-2:5432 for spaces ${ids.slice(0, shownSpacesMax).join(', ')} and 2 more`,
  ]);
  expect(await findDead(pipeline.sql, [waiting])).toEqual(['store']);
});

test('after SIGTERM a service is not ready, accepts for DRAIN_DELAY_MS, and then ends', async () => {
  await using ingest = await startService('ingest', { ...pipeline.variables, DRAIN_DELAY_MS: '6000' });
  expect(await statusOf(ingest, '/readyz')).toBe(200);
  using session = await openSession({ url: ingest.ready.url ?? '' });
  await exchange(session, { ':path': '/healthz' });
  const asked = once(session, 'goaway');
  const ended = ingest.stop('SIGTERM');
  await until(async () => (await statusOf(ingest, '/readyz')) === 503);
  expect(await statusOf(ingest, '/livez')).toBe(200);
  const url = ingest.ready.url ?? '';
  await until(async () => (await fetch(`${url}/readyz`)).status === 503);
  const { status, headers } = await postEvents({ url }, tenant, [llmEvent()]);
  expect(status).toBe(202);
  // Behind a load balancer for connections, clients must leave those that they have.
  expect(headers.get('connection')).toBe('close');
  expect((await asked)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  expect(await ended).toBe(0);
});

test('a line every ten seconds says what a service did', async () => {
  const summaries = (): Record<string, number>[] =>
    pipeline.ingest
      .log()
      .split('\n')
      .filter((line) => line.includes('"msg":"summary"'))
      .map((line) => JSON.parse(line));
  const total = (name: string) => summaries().reduce((sum, one) => sum + (one[name] ?? 0), 0);
  // The requests of the first test.
  await until(() => total('ingest_requests.json.invalid_event_batch') === 1);
  expect(total('ingest_requests.json.accepted')).toBeGreaterThanOrEqual(2);
  expect(total('ingest_events.json')).toBeGreaterThanOrEqual(5);
  expect(JSON.stringify(summaries())).not.toContain(tenant.spaceId);
});
