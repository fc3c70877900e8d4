import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { decodePart } from '../../../platform/queue/group.ts';
import { listQuarantine } from '../../../store/write/quarantine.ts';
import { replayQuarantined } from '../../../store/write/replay.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';
import { createTenant } from '../load/tenants.ts';

const constraint = 'chaos_refuses';
const quarantineTimeoutMs = 60_000;
const rejectedCount = 3;
const acceptedCount = 40;

/**
 * Postgres rejects some events permanently, and the writer is killed while it isolates them. Only these
 * events go to quarantine, with their bytes; after the cause is fixed and they are replayed, each is counted
 * once.
 */
export const quarantine: Fault = {
  name: 'quarantine',
  row: 20,
  title: 'events that Postgres rejects, the writer killed meanwhile; then replayed',
  async inject(run) {
    const { system, load, journal, note } = run;
    const tenant = await createTenant(system);
    const rejected = freshIds(rejectedCount);
    const ids = [...freshIds(acceptedCount / 2), ...rejected, ...freshIds(acceptedCount / 2)];
    // NOT VALID: only new rows are checked.
    await system.sql.unsafe(
      `ALTER TABLE events ADD CONSTRAINT ${constraint} CHECK (id NOT IN (${rejected.map((id) => `'${id}'`).join()})) NOT VALID`,
    );
    if ((await load.send(tenant, ids)) !== 202) throw new Error('the batch was not accepted');
    system.process('writer-1').kill('SIGKILL');
    await journal.untilAccepted(20);
    // A retry of the batch: quarantine keeps each event once.
    await load.send(tenant, ids);
    await untilQuarantined(run, tenant.spaceId);
    await checkEntries(run, tenant.spaceId, rejected);
    const again = await replayQuarantined(system.database);
    if (again.replayed.length > 0) throw new Error('events that Postgres still rejects were replayed');
    await system.sql.unsafe(`ALTER TABLE events DROP CONSTRAINT ${constraint}`);
    const { replayed, failed } = await replayQuarantined(system.database);
    if (replayed.length !== rejectedCount || failed.length > 0) {
      throw new Error(
        `${replayed.length} of ${rejectedCount} events were replayed, ${failed.length} were rejected again`,
      );
    }
    note(
      `${rejectedCount} events went to quarantine, the ${acceptedCount} others of their batch were stored, and all are counted once`,
    );
  },
  async verify({ system }) {
    // Events that reached quarantine after the first replay.
    const { failed } = await replayQuarantined(system.database);
    return failed.map(({ id, message }) => `${id} cannot be replayed: ${message}`);
  },
};

async function untilQuarantined({ system }: FaultRun, spaceId: string): Promise<void> {
  const deadlineMs = performance.now() + quarantineTimeoutMs;
  for (;;) {
    const entries = await listQuarantine(system.database, spaceId);
    const [stored] = await system.sql<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM events WHERE space_id = ${spaceId}`;
    if (entries.length >= rejectedCount && stored?.rows === acceptedCount) return;
    if (performance.now() > deadlineMs) {
      throw new Error(`${entries.length} events are in quarantine, and ${stored?.rows} are stored`);
    }
    await sleep(50);
  }
}

/** Checks that each entry holds the bytes of its own event only. */
async function checkEntries({ system }: FaultRun, spaceId: string, ids: readonly string[]): Promise<void> {
  const rows = await system.sql<{ id: string; sqlstate: string; part: Buffer }[]>`
    SELECT id, sqlstate, part FROM quarantine WHERE space_id = ${spaceId}`;
  const found = rows.map(({ id }) => id).toSorted();
  if (found.join() !== ids.toSorted().join())
    throw new Error('quarantine does not hold exactly the rejected events');
  for (const { id, sqlstate, part } of rows) {
    if (sqlstate !== '23514')
      throw new Error(`the SQLSTATE of ${id} is ${sqlstate}, not 23514 (check_violation)`);
    const body: { events: ({ id: string } | 0)[] } = JSON.parse(
      zstdDecompressSync(decodePart(part).body).toString(),
    );
    // The texts of the other events of the batch are replaced by 0, so that indexes stay valid.
    const held = body.events.filter((event) => event !== 0);
    if (held.map((event) => event.id).join() !== id)
      throw new Error(`the entry of ${id} does not hold its event`);
  }
}
