import process from 'node:process';
import { urlOfRole } from '../../../launcher/provision/postgres/roles.ts';
import { reproject } from '../../../operations/reproject/reproject.ts';
import { migrateDatabase } from '../../../store/migrate/migrate.ts';
import { findReleaseFault, lastRelease } from '../../system/release.ts';
import type { ReleasedSystem, System } from '../../system/system.ts';
import { until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { createReleasedTenant } from '../load/tenants.ts';
import { type Reader, startReader } from '../upgrade/reader.ts';
import { findUnanswered, rollService, untilStored } from '../upgrade/roll.ts';
import { type Sender, startGrpc, startSdk } from '../upgrade/senders.ts';
import { type SpanSender, startSpans } from '../upgrade/spans.ts';

const { version } = lastRelease;
const writers = ['writer-1', 'writer-2'] as const;
const ingests = ['ingest-1', 'ingest-2'] as const;

/** Requests of each sender after each step. */
const requestsPerStep = 3;

/**
 * The last release under load; its database is migrated, and this version is rolled over it part by part;
 * then one version back on the new schema, and forward again (docs/operating.md#upgrade).
 */
export const upgrade: Fault = {
  name: 'upgrade',
  row: 21,
  title: `upgrade from ${version} part by part, one version back, and forward again`,
  system: { ingests: 2, writers: 2, released: true, balanced: true, ingestEnv: { DRAIN_DELAY_MS: '3000' } },
  // It takes long, and is about versions, not about speed.
  load: { clients: 2, eventsMax: 8, pauseMsMax: 80 },
  length: 10,
  discardsSystem: true,
  unavailableMsMax: 2_000,
  checkSupport: () => findReleaseFault(process.env),
  async inject(run) {
    const { system, load, journal } = run;
    const released = requireReleased(system);
    const options = { url: system.ingestUrls[0] ?? '', tenant: load.tenants[0], journal };
    const spans = startSpans(system, { ...options, tenant: await createReleasedTenant(released) });
    const senders: Sender[] = [
      spans,
      startGrpc(options),
      await startSdk(options, `the SDK of ${version}`, released.root),
      await startSdk(options, "this version's SDK"),
    ];
    const reader = await startReader(await createUser(system, released, load.tenants[0].spaceId));
    const startedMs = performance.now();
    const step = async (what: string, roll: () => Promise<void>) => {
      run.log(`${((performance.now() - startedMs) / 1_000).toFixed(1)} s: ${what}`);
      await roll();
      await untilUsed(senders, reader);
    };
    try {
      await step('migrates', () => migrateDatabase(urlOfRole(system.databaseUrl, 'owner')));
      await rollForward(run, step, spans);
      await rollBack(run, step, spans, released);
      await rollForward(run, step, spans);
    } finally {
      const stops = await Promise.allSettled([...senders, reader].map((one) => one.stop()));
      for (const stop of stops) if (stop.status === 'rejected') journal.unexpected.push(String(stop.reason));
    }
    await untilStored(run);
    journal.unexpected.push(...(await spans.verify()));
  },
  async verify({ system, load, note }) {
    // One space that the load alone sends to: each segment takes its time.
    const { spaceId } = load.tenants[1] ?? load.tenants[0];
    const lacking = await countLackingTokens(system, spaceId);
    const { segments } = await reproject(system.database, { spaceId });
    const left = await countLackingTokens(system, spaceId);
    note(
      `\`weir reproject\` of ${segments} segments stored the cached tokens that ${version} left out: ${lacking} before, ${left} after`,
    );
    return left > 0 ? [`${left} cached tokens are not in their column`] : [];
  },
};

type Step = (what: string, roll: () => Promise<void>) => Promise<void>;

/** Writers first: an ingest of this version sends what only a new writer stores whole. */
async function rollForward(run: FaultRun, step: Step, spans: SpanSender): Promise<void> {
  for (const name of writers) await step(`${name} forward`, () => rollService(run, name));
  const unanswered = await findUnanswered(run, async () => {
    for (const name of ingests) await step(`${name} forward`, () => rollService(run, name));
  });
  run.note(
    `${version} has no DRAIN_DELAY_MS: ${unanswered.length} requests met a connection that its ingests closed, and were retried`,
  );
  await step('dashboard-api forward', () => rollService(run, 'dashboard-api'));
  spans.setRelated(true);
  await untilUsed([spans]);
}

/**
 * The other way around; the writers when what the new ingests sent is stored. Here every request must have a
 * response.
 */
async function rollBack(
  run: FaultRun,
  step: Step,
  spans: SpanSender,
  { root }: ReleasedSystem,
): Promise<void> {
  const unanswered = await findUnanswered(run, async () => {
    await step('dashboard-api back', () => rollService(run, 'dashboard-api', root));
    spans.setRelated(false);
    for (const name of ingests) await step(`${name} back`, () => rollService(run, name, root));
    await untilStored(run);
    for (const name of writers) await step(`${name} back`, () => rollService(run, name, root));
  });
  if (unanswered.length > 0)
    throw new Error(
      `${unanswered.length} requests had no response while ingests of this version stopped: ${unanswered[0]}`,
    );
}

/** Waits until each sender was accepted, and the dashboard has answered. */
async function untilUsed(senders: readonly Sender[], reader?: Reader): Promise<void> {
  const targets = senders.map((sender) => sender.accepted() + requestsPerStep);
  for (const [i, sender] of senders.entries())
    await until(
      () => sender.accepted() >= (targets[i] ?? 0),
      60_000,
      `nothing of ${sender.name} is accepted any more`,
    );
  await reader?.untilAnswered();
}

function requireReleased({ released }: System): ReleasedSystem {
  if (released === undefined) throw new Error('the system did not start as a release');
  return released;
}

async function createUser({ dashboardUrl = '' }: System, { weir }: ReleasedSystem, spaceId: string) {
  const email = 'owner@example.com';
  const { password = '' } = await weir(
    'user',
    'create',
    '--email',
    email,
    '--space',
    spaceId,
    '--role',
    'owner',
  );
  return { dashboardUrl, email, password };
}

/**
 * Cached tokens that the statistics have, and the column of the events does not: an older writer does not
 * know it.
 */
async function countLackingTokens({ sql }: System, spaceId: string): Promise<number> {
  const [row] = await sql<{ lacking: number }[]>`
    SELECT abs(coalesce((SELECT sum(cache_read_tokens) FROM event_stats WHERE space_id = ${spaceId}), 0)
      + coalesce((SELECT sum(cache_read_tokens) FROM statistic_deltas WHERE space_id = ${spaceId}), 0)
      - coalesce((SELECT sum(cache_read_tokens) FROM events WHERE space_id = ${spaceId}), 0))::float8 AS lacking`;
  return row?.lacking ?? 0;
}
