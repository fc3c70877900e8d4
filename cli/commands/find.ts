import { type Command, InvalidArgumentError } from 'commander';
import { and, between, eq, ne } from 'drizzle-orm';
import { type BatchRange, parseBatchId } from '../../event/segment/batch-id.ts';
import { decodePart } from '../../platform/queue/group.ts';
import type { Database } from '../../store/db/database.ts';
import { noSpace } from '../../store/db/limits.ts';
import { events, quarantine, segments } from '../../store/db/schema.ts';
import { readOldestQueued } from '../../store/queue-state/watermark.ts';
import { isSliceOf } from '../../store/write/slice.ts';
import { connectNats, withDatabase } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';

/** Longest time from a request's receipt to its segment's creation: reading and publishing take seconds. */
const quarantineReceiptLagMs = 60_000;

/** Locates the events of a request by the `Weir-Batch-Id` of its response (docs/api.md §4.3). */
export function addFindCommand(program: Command, host: Host): void {
  program
    .command('find')
    .description('locate the events of a request: one line for each range of its Weir-Batch-Id')
    .argument('<batch...>', 'the Weir-Batch-Id of its response', collectRanges)
    .action((ranges: BatchRange[]) =>
      withDatabase(host, async (database) => {
        let missing = 0;
        for (const range of ranges) {
          const location = await locateBatch(database, range);
          await printJson(host, location);
          missing += location.missing;
        }
        if (missing > 0) printMessage(host, await explainMissing(host, missing));
      }),
    );
}

/** The header's value is one argument or, unquoted in a shell, several. */
function collectRanges(text: string, before: BatchRange[] = []): BatchRange[] {
  const ranges = parseBatchId(text.replace(/,\s*$/, ''));
  if (ranges !== undefined) return [...before, ...ranges];
  throw new InvalidArgumentError(
    'It must be a Weir-Batch-Id, such as 0199a0c0-1234-7abc-8def-0123456789ab:0-2.',
  );
}

async function explainMissing(host: Host, missing: number): Promise<string> {
  await using nats = await connectNats(host, 'find');
  const oldest = await readOldestQueued(nats);
  const queue =
    oldest === undefined
      ? 'The queue is empty.'
      : `The oldest message in the queue is from ${oldest.toISOString()}: events accepted later may still be queued.`;
  const verb = missing === 1 ? 'event is' : 'events are';
  return `${missing} ${verb} not stored under this id. ${queue} Otherwise they were stored from an earlier request with the same ids, were erased, or have expired.`;
}

/** Finds the events of a range in Postgres, in any space: the ids of those stored and in quarantine. */
async function locateBatch(database: Database, range: BatchRange) {
  const { segmentId, first, last } = range;
  const found = await readEvents(database, segmentId);
  // A rejected event splits its part into slices; a replay stores it in another slice.
  const stored = found.filter(
    (row) => isSliceOf(segmentId, row.segmentId) && row.segmentIndex >= first && row.segmentIndex <= last,
  );
  const quarantined = await findQuarantined(database, range);
  const [one] = stored;
  return {
    ...range,
    ...(one !== undefined && { ...(await readSegment(database, one)), receivedAt: one.receivedAt }),
    stored: stored.map(({ id }) => id),
    quarantined,
    /** How many events are neither stored nor in quarantine. */
    missing: Math.max(0, last - first + 1 - stored.length - quarantined.length),
  };
}

/** Includes the slices: the events of all segments of the same millisecond. */
function readEvents(database: Database, segmentId: string) {
  const millisecond = segmentId.slice(0, 13);
  const { spaceId, id, segmentIndex, receivedAt } = events;
  return database
    .select({ spaceId, id, segmentId: events.segmentId, segmentIndex, receivedAt })
    .from(events)
    .where(
      between(
        events.segmentId,
        `${millisecond}-0000-0000-000000000000`,
        `${millisecond}-ffff-ffff-ffffffffffff`,
      ),
    )
    .orderBy(events.segmentIndex);
}

async function readSegment(
  database: Database,
  { spaceId, segmentId }: { spaceId: string; segmentId: string },
) {
  const [segment] = await database
    .select({ spaceId: segments.spaceId, apiKeyId: segments.apiKeyId })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), eq(segments.id, segmentId)));
  return segment ?? { spaceId };
}

async function findQuarantined(
  database: Database,
  { segmentId, first, last }: BatchRange,
): Promise<string[]> {
  const madeAtMs = Number.parseInt(segmentId.replace('-', '').slice(0, 12), 16);
  const entries = await database
    .select({ id: quarantine.id, part: quarantine.part })
    .from(quarantine)
    .where(
      and(
        // Excludes messages that cannot be decoded.
        ne(quarantine.spaceId, noSpace),
        between(quarantine.receivedAt, new Date(madeAtMs - quarantineReceiptLagMs), new Date(madeAtMs)),
      ),
    );
  return entries
    .filter(({ part: bytes }) => {
      const { segmentId: id, columns } = decodePart(bytes);
      const index = Number(columns?.segmentIndex);
      return isSliceOf(segmentId, id) && index >= first && index <= last;
    })
    .map(({ id }) => id);
}
