import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkLoopDevices, openLoopDisk } from '../../harness/chaos/disk/loop-disk.ts';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { buildTimeoutMs } from '../../harness/tools/build-cache.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { dayMs } from '../../platform/time.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { postEvents } from '../support/http.ts';
import { type ProcessPipeline, startProcessPipeline, type Tenant } from '../support/pipeline.ts';
import { CertificateFiles, makePair } from '../support/protocols/certificate.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { until, untilDrained } from '../support/wait.ts';
import { alertNames, read, startProgram, startPrometheus, unpackDebian } from './prometheus.ts';

/** The rules of `deploy`, with shorter durations and nothing else changed. */
const shortRules = read('deploy/prometheus/alerts.yml')
  .replaceAll(/for: \d+m/g, 'for: 1s')
  .replaceAll(/\[\d+m\]/g, '[10s]')
  .replace('weir_queue_oldest_pending_seconds) > 60', 'weir_queue_oldest_pending_seconds) > 3');

/** An alert follows its condition within some scrapes; that of a rate resolves when the window has passed. */
const alertTimeoutMs = 60_000;

const diskBytes = 64 * 1024 ** 2;
const missing = findMissingTool(['apt-get']);
const noDisk = missing ?? (await checkLoopDevices());

describe.skipIf(missing !== undefined)(
  `each alert fires and resolves${missing ? `: ${missing}` : ''}`,
  () => {
    const stack = new AsyncDisposableStack();
    const seen = new Set<string>();
    let pipeline: ProcessPipeline;
    let tenant: Tenant;
    let dashboard: ServiceProcess;
    let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
    let disk: Awaited<ReturnType<typeof openLoopDisk>> | undefined;

    const send = (size = 0) =>
      postEvents(pipeline, tenant, [
        llmEvent({ additionalProperties: { text: randomBytes(size / 2).toString('hex') } }),
      ]);
    const firing = async (where: (labels: Record<string, string>) => boolean = () => true) =>
      (await prometheus.firing()).filter(where).map(({ alertname = '' }) => alertname);
    /** @param keepTrue called between two looks, for conditions that need load. */
    const untilFiring = async (names: readonly string[], keepTrue?: () => Promise<unknown>) => {
      let now: string[] = [];
      await until(
        async () => {
          await keepTrue?.();
          now = await firing();
          for (const name of now) seen.add(name);
          return names.every((name) => seen.has(name));
        },
        alertTimeoutMs,
        () => `${names.filter((name) => !seen.has(name)).join(', ')} did not fire; ${now.join(', ')} did`,
      );
    };
    const untilResolved = async (names: readonly string[]) => {
      let now: string[] = [];
      await until(
        async () => {
          now = await firing();
          return names.every((name) => !now.includes(name));
        },
        alertTimeoutMs,
        () => `${now.join(', ')} did not resolve`,
      );
    };
    /** Starts a service again, where Prometheus expects it. */
    const restart = (
      service: ServiceProcess,
      name: 'ingest' | 'writer' | 'dashboard-api',
      variables?: Record<string, string>,
    ) =>
      startService(name, {
        ...pipeline.variables,
        ...variables,
        DASHBOARD_PORT: '0',
        METRICS_PORT: new URL(service.ready.metricsUrl ?? '').port,
      });

    beforeAll(async () => {
      pipeline = stack.use(await startProcessPipeline({ QUEUE_BYTES_MAX: String(6 * 1024 ** 2) }));
      tenant = await pipeline.createTenant();
      dashboard = await startService('dashboard-api', { ...pipeline.variables, DASHBOARD_PORT: '0' });
      stack.defer(() => dashboard[Symbol.asyncDispose]());
      const services = [pipeline.ingest, pipeline.writer, dashboard];
      const targets = services.map(({ ready }) => new URL(ready.metricsUrl ?? '').host);
      if (noDisk === undefined) {
        disk = stack.use(await openLoopDisk(diskBytes));
        const exporter = join(await unpackDebian('prometheus-node-exporter'), 'prometheus-node-exporter');
        const collectors = ['--collector.disable-defaults', '--collector.filesystem'];
        const listening = { listen: '--web.listen-address', readyPath: '/metrics' };
        targets.push(stack.use(await startProgram(exporter, collectors, listening)).host);
      }
      prometheus = stack.use(await startPrometheus(targets, shortRules));
      expect((await send()).status).toBe(202);
      await untilDrained(pipeline);
    }, buildTimeoutMs);
    afterAll(() => stack.disposeAsync());

    test('the table of events is locked, and the queue fills: events wait, nothing is stored, the queue is full, ingest answers 503; then events are stored late', async () => {
      const names = ['WeirQueueDelayed', 'WeirQueueFilling', 'WeirWriterStuck', 'WeirServerErrors'];
      await pipeline.sql.begin(async (locking) => {
        await locking`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`;
        await untilFiring(names, () => send(400_000));
      });
      await untilFiring(['WeirSlowStore']);
      await untilResolved([...names, 'WeirSlowStore']);
    }, 180_000);

    test('a service that ended', async () => {
      await dashboard.stop('SIGKILL');
      await untilFiring(['WeirTargetDown']);
      dashboard = await restart(dashboard, 'dashboard-api');
      await untilResolved(['WeirTargetDown']);
    });

    test('a certificate that expires tomorrow, until it is renewed', async () => {
      using files = new CertificateFiles();
      files.install(await makePair(new Date(Date.now() + dayMs)));
      await dashboard.stop('SIGKILL');
      dashboard = await restart(dashboard, 'dashboard-api', files.variables);
      await untilFiring(['WeirCertificateExpiring']);
      files.install(await makePair());
      await untilResolved(['WeirCertificateExpiring', 'WeirTargetDown']);
    });

    test('a nats-server that pauses while it stores', async () => {
      await untilFiring(['WeirSlowQueue'], async () => {
        kill(pipeline.nats.pid, 'SIGSTOP');
        const sent = send();
        // The fault itself: PubAcks take this long.
        await sleep(300);
        kill(pipeline.nats.pid, 'SIGCONT');
        expect((await sent).status).toBe(202);
      });
      await untilResolved(['WeirSlowQueue']);
    });

    test('an event that Postgres rejects', async () => {
      await pipeline.sql`ALTER TABLE events ADD CONSTRAINT refused CHECK (user_id <> 'user-1') NOT VALID`;
      expect((await send()).status).toBe(202);
      await untilFiring(['WeirQuarantine']);
      await pipeline.sql`ALTER TABLE events DROP CONSTRAINT refused`;
      expect((await replayQuarantined(pipeline.database)).failed).toEqual([]);
      await untilResolved(['WeirQuarantine']);
    });

    test.skipIf(noDisk !== undefined)(`a disk that fills${noDisk ? `: ${noDisk}` : ''}`, async () => {
      const ofDisk = ({ mountpoint }: Record<string, string>) => mountpoint === disk?.directory;
      const isFiring = async () => (await firing(ofDisk)).includes('WeirDiskFilling');
      expect(await isFiring()).toBe(false);
      const file = join(disk?.directory ?? '', 'data');
      writeFileSync(file, Buffer.alloc(diskBytes * 0.8));
      await until(isFiring, alertTimeoutMs);
      seen.add('WeirDiskFilling');
      rmSync(file);
      await until(async () => !(await isFiring()), alertTimeoutMs);
    });

    test('a backup that is two days old', async () => {
      await pipeline.sql`
      INSERT INTO backups (label, location, stopped_at, verified_at) VALUES ('old', 'here', now() - interval '2 days', now())`;
      await untilFiring(['WeirBackupOld']);
      await pipeline.sql`UPDATE backups SET stopped_at = now()`;
      await untilResolved(['WeirBackupOld']);
    });

    test('an archive of WAL that fails', async (context) => {
      const { sql } = pipeline;
      const [setting] = await sql<{ mode: string }[]>`SELECT current_setting('archive_mode') AS mode`;
      if (setting?.mode !== 'on') seen.add('WeirArchiveBehind');
      context.skip(setting?.mode !== 'on', 'the Postgres of the tests has no archive');
      /** More than the bound of the alert, in segments of 16 MB. */
      const writeSegments = async (count: number) => {
        for (let i = 0; i < count; i++) {
          await sql`SELECT pg_logical_emit_message(true, 'test', 'a record')`;
          await sql`SELECT pg_switch_wal()`;
        }
      };
      const archiveWith = async (command: string) => {
        await sql.unsafe(`ALTER SYSTEM SET archive_command = '${command}'`);
        await sql`SELECT pg_reload_conf()`;
      };
      try {
        await archiveWith('true');
        await writeSegments(1);
        await until(
          async () =>
            (await sql`SELECT FROM pg_stat_archiver WHERE last_archived_wal IS NOT NULL`).length > 0,
        );
        await archiveWith('false');
        await writeSegments(36);
        await untilFiring(['WeirArchiveBehind']);
      } finally {
        await archiveWith('true');
      }
      await untilResolved(['WeirArchiveBehind']);
      await sql`ALTER SYSTEM RESET archive_command`;
      await sql`SELECT pg_reload_conf()`;
    });

    test('a nats-server that lost its store', async () => {
      // So that a stream that starts again has a sequence that was used.
      expect((await send()).status).toBe(202);
      await untilDrained(pipeline);
      await pipeline.nats.stop();
      rmSync(pipeline.nats.storeDir, { recursive: true });
      pipeline.nats = { ...pipeline.nats, ...(await pipeline.nats.restart()) };
      await pipeline.writer.stop('SIGKILL');
      pipeline.writer = await restart(pipeline.writer, 'writer');
      await untilFiring(['WeirQueueLoss'], () => send());
      await pipeline.ingest.stop('SIGKILL');
      pipeline.ingest = await restart(pipeline.ingest, 'ingest');
      await untilResolved(['WeirQueueLoss', 'WeirTargetDown']);
    });

    test('these were all alerts of the file', () => {
      // A node that fails needs a Citus cluster.
      const skipped = ['WeirNodeFailed', ...(noDisk === undefined ? [] : ['WeirDiskFilling'])];
      expect([...seen, ...skipped].toSorted()).toEqual(alertNames.toSorted());
    });
  },
);
