import { jetstreamManager } from '@nats-io/jetstream';
import { requireConfig } from '../../lib/config.ts';
import { openPostgres } from '../../lib/db/connect.ts';
import { statementTimeoutMs } from '../../lib/limits.ts';
import { connectQueue } from '../../lib/queue/connect.ts';
import { queueStreams } from '../../lib/queue/settings.ts';
import { ensureStream } from '../../lib/queue/stream.ts';
import { runService } from '../../lib/run.ts';
import { startDelivery } from './delivery.ts';
import { clearResidue } from './residue.ts';
import { startWriter } from './writer.ts';

/** JetStream in, Postgres out. */
await runService(process, 'writer', async ({ config: parsed, log, resources }) => {
  const config = requireConfig(parsed, ['DATABASE_URL', 'NATS_URL']);
  const sql = resources.use(
    openPostgres(config.DATABASE_URL, {
      applicationName: 'weir-writer',
      connectionsMax: config.WRITER_CONNECTIONS,
      statementTimeoutMs,
    }),
  );
  const nats = resources.use(await connectQueue(config.NATS_URL, 'weir-writer'));
  await ensureStream(nats, config);
  const writer = resources.use(startWriter({ sql, log, lanes: config.WRITER_CONNECTIONS }));
  const manager = await jetstreamManager(nats);
  for (const stream of queueStreams(config)) {
    resources.use(startDelivery(nats, stream, writer));
    resources.use(clearResidue({ manager, stream, log }));
  }
  return { lanes: config.WRITER_CONNECTIONS };
});
