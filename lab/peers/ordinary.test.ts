import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { until } from '../../harness/wait.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { openPeerDatabase } from './database.ts';
import { ordinary } from './ordinary.ts';

const sample = new URL('../../examples/events.ndjson', import.meta.url);

test('the ordinary way stores each event that it accepted once, also those that are sent twice or queued when it stops', {
  timeout: 180_000,
}, async () => {
  await using nats = await startNats();
  const directory = await mkdtemp(join(inject('runDirectory'), 'peers-'));
  const host = {
    directory,
    superuserUrl: inject('templateDatabaseUrl'),
    connection: {
      natsUrl: nats.url,
      databaseUrl: '',
      ingestUrl: '',
      apiKey: '',
    },
  };
  const events = readFileSync(sample, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [first, second] = [events.slice(0, 60), events.slice(60)];
  {
    await using running = await ordinary.start(host);
    const post = async (batch: unknown[]) => {
      const body = JSON.stringify({ events: batch });
      return (await fetch(running.url, { method: 'POST', headers: running.headers, body })).status;
    };
    expect(await post([{ ...events[0], id: 'none' }])).toBe(400);
    expect(await Promise.all([post(first), post(first)])).toEqual([running.status, running.status]);
    await until(async () => (await running.countStored()) === first.length, 60_000);
    expect(await post(first)).toBe(running.status);
    // It is stopped before, while or after the consumer stores these.
    expect(await post(second)).toBe(running.status);
  }
  await using running = await ordinary.start(host);
  await until(async () => (await running.countStored()) === events.length, 60_000);
  expect(await running.countBytes()).toBeGreaterThan(0);

  await using database = await openPeerDatabase(host.superuserUrl, 'ordinary');
  const { sql } = database;
  const rows = await sql`SELECT id, type, event FROM ${sql('events')} WHERE jsonb_typeof(event) = 'object'`;
  const stored = new Map(rows.map(({ id, type, event }) => [id, { type, event }]));
  for (const event of events) expect(stored.get(event.id)).toEqual({ type: event.type, event });
});
