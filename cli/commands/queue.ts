import type { Command } from 'commander';
import { storeTimeoutMs } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { readStoredPositions, type StoredPosition } from '../../store/queue-state/stored-positions.ts';
import type { StreamState } from '../../store/queue-state/stream-state.ts';
import { readStreams } from '../../store/queue-state/watermark.ts';
import { connectNats, openLongPool } from '../database.ts';
import { type Host, printJson } from '../host.ts';

/** Reports the streams, and how far their replay windows reach back (docs/operating.md). */
export function addQueueCommand(program: Command, host: Host): void {
  program
    .command('queue')
    .description('report the streams of the queue: what waits, and how far the replay window reaches back')
    .action(async () => {
      await using nats = await connectNats(host, 'queue');
      const positions = await readPositions(host);
      for (const state of await readStreams(nats)) await printJson(host, describe(state, positions));
    });
}

/** The state of the queue is wanted most when Postgres is away. */
async function readPositions(host: Host): Promise<StoredPosition[]> {
  await using sql = openLongPool(host, { name: 'queue', statementTimeoutMs: storeTimeoutMs });
  return await readStoredPositions(openDatabase(sql)).catch(() => []);
}

function describe(
  { stream, firstAt, messages, pending, bytes, bytesMax, storedUpTo, lastSequence }: StreamState,
  positions: readonly StoredPosition[],
) {
  const windowMs = positions.find((one) => one.stream === stream.name)?.windowMs;
  const window = {
    windowFrom: firstAt?.toISOString() ?? null,
    windowHoursMax: windowMs === undefined ? null : windowMs / 3_600_000,
  };
  return {
    stream: stream.name,
    pending,
    messages,
    bytes,
    bytesMax,
    storedUpTo,
    lastSequence,
    ...(stream.keepsStored && window),
  };
}
