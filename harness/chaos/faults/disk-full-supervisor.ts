import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../../launcher/local-system.ts';
import { logBytes } from '../../../launcher/process/log-file.ts';
import { logBytesMax } from '../../../launcher/process/log-rotation.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { llmEvent } from '../../fixtures/events.ts';
import { createWeirDirectory } from '../../system/weir.ts';
import { until } from '../../wait.ts';
import { checkTmpfs, openSmallDisk } from '../disk/small-disk.ts';
import type { Fault } from '../fault.ts';
import { freshIds } from '../load/batches.ts';

/** For Postgres, the queue, and two generations of one full log. */
const mebibytes = 1_536;

/** The supervisor looks at its logs every 10 seconds. */
const rotationMsMax = 30_000;

/** Postgres and nats-server may have ended, and recover. */
const recoveryMsMax = 30_000;

const storedMsMax = 60_000;

/**
 * The disk of a whole `npm start`: of its own logs and state, of Postgres and of nats-server. The supervisor
 * and its services survive, and logs are rotated again once there is space. It has a system and a load of its
 * own beside those of the round.
 */
export const diskFullSupervisor: Fault = {
  name: 'disk-full-supervisor',
  row: 7,
  title: 'the disk of a whole `npm start` is full, a log too large',
  checkSupport: checkTmpfs,
  async inject({ random, thorough, slack, note, log }) {
    await using disk = await openSmallDisk(mebibytes);
    await using directory = createWeirDirectory(disk.directory);
    const weir = directory.launch({ npm_lifecycle_event: 'harness' });
    await weir.ready();
    const connection = directory.connection();
    const accepted: string[] = [];
    const send = async () => {
      const ids = freshIds(20);
      const status = await post(connection, ids);
      if (status === 202) accepted.push(...ids);
      return status;
    };
    for (let batch = 0; batch < 25; batch += 1)
      if ((await send()) !== 202) throw new Error('a new system did not accept events');

    const logFile = join(directory.dataDir, 'logs', 'nats-server.log');
    const logEntries = Buffer.alloc(logBytesMax + 1_024 ** 2, 'x\n');
    // The log takes nearly all that is left: there is no room for its copy.
    await disk.fill(logEntries.length + 1_024 ** 2);
    appendFileSync(logFile, logEntries);
    await until(
      () => weir.output().includes(`${logFile} was not kept`),
      rotationMsMax * slack,
      () => `the supervisor did not say that a log was lost:\n${weir.output()}`,
    );
    // The lost log has made room.
    await disk.fill(0);
    const holdUntilMs = performance.now() + random.between(3_000, thorough ? 20_000 : 6_000);
    const statuses = new Map<number, number>();
    do {
      const status = await send();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status !== 202 && status !== 503)
        throw new Error(`the status was ${status} while the disk was full`);
      await sleep(50);
    } while (performance.now() < holdUntilMs);
    if (!statuses.has(503)) throw new Error('events were accepted, though the disk was full');
    log(`while the disk was full: ${JSON.stringify(Object.fromEntries(statuses))}`);

    await disk.clear();
    await until(async () => (await send()) === 202, recoveryMsMax * slack, 'no event was accepted again');
    appendFileSync(logFile, logEntries);
    await until(
      () => existsSync(`${logFile}.1`) && logBytes(logFile) < logBytesMax,
      rotationMsMax * slack,
      'the log was not rotated again',
    );
    await using sql = openPostgres(connection.databaseUrl, {
      applicationName: 'chaos',
      statementTimeoutMs: 0,
    });
    await until(
      async () => {
        const [row] =
          await sql`SELECT count(*)::int AS stored FROM events WHERE id = ANY (${`{${accepted.join()}}`}::uuid[])`;
        return row?.stored === accepted.length;
      },
      storedMsMax * slack,
      `of ${accepted.length} accepted events some were not stored`,
    );
    weir.kill('SIGTERM');
    const exit = await weir.exited;
    if (exit !== 0) throw new Error(`the supervisor ended with ${exit}:\n${weir.output()}`);
    note(`${accepted.length} events accepted by the system on the full disk, all stored`);
  },
};

/** @returns the status; 0 when there was no response. */
async function post({ ingestUrl, apiKey }: Connection, ids: readonly string[]): Promise<number> {
  try {
    const response = await fetch(`${ingestUrl}/v1/ingest-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ events: ids.map((id) => llmEvent({ id })) }),
      signal: AbortSignal.timeout(30_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
