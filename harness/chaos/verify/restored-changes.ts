import { join } from 'node:path';
import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { eraseEvents } from '../../../operations/erasure/erase.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { issueApiKey, revokeApiKey } from '../../../store/accounts/api-keys.ts';
import { toolEvent } from '../../fixtures/events.ts';
import type { System } from '../../system/system.ts';
import { retry, until } from '../../wait.ts';
import type { FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';
import { createTenant, type Tenant } from '../load/tenants.ts';
import { filesWith, hasText } from './hidden-text.ts';

/**
 * The text of the event that is erased, which no file of the restored database may have, compressed or not.
 */
const canary = 'the-erased-canary';
/** Other spaces load the system meanwhile. */
const storedTimeoutMs = 120_000;

/**
 * What is changed after the restored time. It is in no journal: the invariants of the load do not allow for
 * erasures.
 */
interface Changes {
  tenant: Tenant;
  erasedId: string;
  keptId: string;
  revokedKey: string;
  newKey: string;
}

const changesOf = new WeakMap<System, Changes>();

/** Two events and a key, from before the backup that is restored. */
export async function prepareChanges({ system }: FaultRun): Promise<Changes> {
  const tenant = await createTenant(system);
  const [erasedId = '', keptId = ''] = freshIds(2);
  const { apiKey: revokedKey } = await issueApiKey(system.database, tenant.spaceId, {
    name: 'old',
    pepper: system.pepper,
  });
  await send(system, tenant.apiKey, [eventOf(erasedId, 'erased'), eventOf(keptId, 'kept')]);
  await untilStored(system, keptId);
  return { tenant, erasedId, keptId, revokedKey, newKey: '' };
}

/** An erasure of an event from before the restored time and of one after it, a revocation, and a new key. */
export async function makeChanges({ system, log }: FaultRun, before: Changes): Promise<void> {
  const { tenant, revokedKey } = before;
  const { database, pepper } = system;
  const [laterId = ''] = freshIds(1);
  await send(system, tenant.apiKey, [eventOf(laterId, 'erased')]);
  await untilStored(system, laterId);
  await using nats = await connectQueue(system.natsUrls.join(','), 'chaos');
  const subject = { kind: 'user', value: 'erased' } as const;
  await eraseEvents({ database, connection: nats }, tenant.spaceId, {
    subject,
    reason: undefined,
    backupRetentionDays: 7,
    report: log,
  });
  const [key] = await system.sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE space_id = ${tenant.spaceId} AND name = 'old'`;
  await revokeApiKey(database, key?.id ?? '');
  const { apiKey: newKey } = await issueApiKey(database, tenant.spaceId, { name: 'new', pepper });
  changesOf.set(system, { ...before, revokedKey, newKey });
}

const eventOf = (id: string, userId: string) =>
  toolEvent({
    id,
    context: { userId },
    // Not in the name, which statistics keep.
    properties: {
      tool: { name: 'drill', input: { text: userId === 'erased' ? canary : 'kept' }, output: '' },
    },
  });

async function send(system: System, apiKey: string, events: readonly object[]): Promise<void> {
  await retry(async () => {
    const status = await post(system, apiKey, events);
    if (status !== 202) throw new Error(`the drill's events were answered ${status}`);
  });
}

async function post(system: System, apiKey: string, events: readonly object[]): Promise<number> {
  await using client = openIngestClient({
    url: system.ingestUrls[0] ?? '',
    apiKey,
    connections: 1,
    timeoutMs: 10_000,
  });
  return (await client.post(Buffer.from(JSON.stringify({ events })))).status;
}

async function untilStored({ sql }: System, id: string): Promise<void> {
  await until(
    async () => (await sql`SELECT FROM events WHERE id = ${id}`).length > 0,
    storedTimeoutMs,
    `the drill's event ${id} was not stored`,
  );
}

/** @returns what of the changes the restored system lacks. */
export async function verifyChanges({ system }: FaultRun): Promise<string[]> {
  const changes = changesOf.get(system);
  if (changes === undefined) return ['the fault ended before its changes were made'];
  const { tenant, keptId, revokedKey, newKey } = changes;
  const violations: string[] = [];
  const rows = await system.sql<{ id: string }[]>`SELECT id FROM events WHERE space_id = ${tenant.spaceId}`;
  if (rows.length !== 1 || rows[0]?.id !== keptId)
    violations.push(`${rows.length} events of the drill are stored, not the kept one`);
  const [usage] = await system.sql<{ events: number }[]>`
    SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months WHERE space_id = ${tenant.spaceId}`;
  // The erased ones were received, and stay counted.
  if (usage?.events !== 3) violations.push(`the usage of the drill's space is ${usage?.events}, not 3`);
  const revoked = await post(system, revokedKey, [eventOf(keptId, 'kept')]);
  if (revoked !== 401) violations.push(`the revoked key got ${revoked}`);
  const accepted = await post(system, newKey, [eventOf(keptId, 'kept')]);
  if (accepted !== 202) violations.push(`the new key got ${accepted}`);
  const bodies = await system.sql<{ body: Buffer }[]>`
    SELECT body FROM segments WHERE space_id = ${tenant.spaceId}
    UNION ALL SELECT part FROM quarantine WHERE space_id = ${tenant.spaceId}`;
  if (!bodies.some(({ body }) => hasText(body, keptId))) violations.push('the kept event is in no segment');
  if (bodies.some(({ body }) => hasText(body, canary)))
    violations.push('a segment or the quarantine has the text of an erased event');
  await system.sql`CHECKPOINT`;
  const files = filesWith(join(system.directory, 'postgres', 'base'), canary);
  return [...violations, ...files.map((file) => `${file} has the text of an erased event`)];
}
