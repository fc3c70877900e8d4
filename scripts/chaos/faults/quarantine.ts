import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { decodePart } from '../../../lib/queue/group.ts';
import { listQuarantine } from '../../../lib/write/quarantine.ts';
import { replayQuarantined } from '../../../lib/write/replay.ts';
import { freshIds } from '../batches.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { createTenant } from '../tenants.ts';

const constraint = 'chaos_refuses';
const quarantineTimeoutMs = 60_000;
const refused = 3;
const beside = 40;

/**
 * Postgres refuses some events for good, and the writer dies while it looks for them. They wait with their bytes, and
 * nothing beside them does; mended and replayed they count once.
 */
export const quarantine: Fault = {
  name: 'quarantine',
  row: 20,
  title: 'events that Postgres refuses, the writer killed meanwhile; then replayed',
  async inject(run) {
    const { system, load, journal, note } = run;
    const tenant = await createTenant(system);
    const bad = freshIds(refused);
    const ids = [...freshIds(beside / 2), ...bad, ...freshIds(beside / 2)];
    // Not valid for what is there: the check is made for new rows only.
    await system.sql.unsafe(
      `ALTER TABLE events ADD CONSTRAINT ${constraint} CHECK (id NOT IN (${bad.map((id) => `'${id}'`).join()})) NOT VALID`,
    );
    if ((await load.send(tenant, ids)) !== 202) throw new Error('the batch was not accepted');
    system.part('writer-1').kill('SIGKILL');
    await journal.untilAccepted(20);
    // A retry of it all: quarantine keeps each event once.
    await load.send(tenant, ids);
    await untilQuarantined(run, tenant.spaceId);
    await checkEntries(run, tenant.spaceId, bad);
    const again = await replayQuarantined(system.sql);
    if (again.replayed.length > 0) throw new Error('what Postgres still refuses was replayed');
    await system.sql.unsafe(`ALTER TABLE events DROP CONSTRAINT ${constraint}`);
    const { replayed, failed } = await replayQuarantined(system.sql);
    if (replayed.length !== refused || failed.length > 0) {
      throw new Error(
        `${replayed.length} of ${refused} events were replayed, ${failed.length} refused again`,
      );
    }
    note(`${refused} events went to quarantine, ${beside} beside them were stored, and all are counted once`);
  },
  async verify({ system }) {
    // What was on its way to quarantine while it was mended; everything else is stored, and stays as it is.
    const { failed } = await replayQuarantined(system.sql);
    return failed.map(({ id, message }) => `${id} cannot be replayed: ${message}`);
  },
};

async function untilQuarantined({ system }: FaultRun, spaceId: string): Promise<void> {
  const deadlineMs = performance.now() + quarantineTimeoutMs;
  for (;;) {
    const entries = await listQuarantine(system.sql, spaceId);
    const [stored] = await system.sql<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM events WHERE space_id = ${spaceId}`;
    if (entries.length >= refused && stored?.rows === beside) return;
    if (performance.now() > deadlineMs) {
      throw new Error(
        `${entries.length} events are in quarantine, and ${stored?.rows} beside them are stored`,
      );
    }
    await sleep(50);
  }
}

/** Each has its own bytes, and no other's. */
async function checkEntries({ system }: FaultRun, spaceId: string, ids: readonly string[]): Promise<void> {
  const rows = await system.sql<{ id: string; sqlstate: string; part: Buffer }[]>`
    SELECT id, sqlstate, part FROM quarantine WHERE space_id = ${spaceId}`;
  const found = rows.map(({ id }) => id).toSorted();
  if (found.join() !== ids.toSorted().join())
    throw new Error('other events are in quarantine than were refused');
  for (const { id, sqlstate, part } of rows) {
    if (sqlstate !== '23514') throw new Error(`the reason for ${id} is ${sqlstate}, not a check that failed`);
    const body: { events: { id: string }[] } = JSON.parse(
      zstdDecompressSync(decodePart(part).body).toString(),
    );
    if (body.events.map((event) => event.id).join() !== id)
      throw new Error(`the bytes of ${id} are not kept`);
  }
}
