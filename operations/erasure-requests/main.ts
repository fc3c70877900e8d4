import { once } from 'node:events';
import process from 'node:process';
import { trustCertificates } from '../../platform/config/trusted-certificates.ts';
import { requireConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { progressTimeoutMs } from './limits.ts';
import { rewriteRequests, runRequest } from './request-run.ts';
import { findRequestWork } from './requests.ts';

/**
 * Runs the erasures that are requested in the dashboard, once. A writer starts this process and sends its
 * configuration. Can be killed at any time. Exit code 1: something is left to do.
 */

// The channel to the writer closes when the writer dies.
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => process.exit(1));
const [sent] = await once(process, 'message');
const config = requireConfig(sent, ['DATABASE_URL', 'NATS_URL']);
trustCertificates(config);
const log = openLog('erasure', config);

const applicationName = 'weir-writer-erasure';
const openPool = (statementTimeoutMs: number) =>
  openPostgres(config.DATABASE_URL, { applicationName, statementTimeoutMs });

try {
  await using erasingPool = openPool(0);
  await using pool = openPool(progressTimeoutMs);
  await using connection = await connectQueue(config.NATS_URL, applicationName);
  const [erasing, database] = [openDatabase(erasingPool), openDatabase(pool)];
  const backupRetentionDays = config.BACKUP_RETENTION_DAYS;
  let isLeft = false;
  for (const request of (await findRequestWork(database)).requests) {
    const startedMs = performance.now();
    const run = runRequest({ erasing, database, connection, backupRetentionDays }, request);
    const receipt = await run.catch((error: unknown) => {
      log.error({ err: error, spaceId: request.spaceId }, 'a requested erasure failed; trying again later');
    });
    if (receipt === undefined) isLeft = true;
    else {
      const { erasureId, spaceId, erased } = receipt;
      const ms = Math.round(performance.now() - startedMs);
      log.info({ erasureId, spaceId, events: erased.events, ms }, 'a requested erasure is complete');
    }
  }
  const { unwritten } = await findRequestWork(database);
  if (unwritten.length > 0 && !(await rewriteRequests(erasing, unwritten))) isLeft = true;
  process.exitCode = isLeft ? 1 : 0;
} catch (error) {
  log.error({ err: error }, 'requested erasures were not run');
  process.exitCode = 1;
}
process.exit();
