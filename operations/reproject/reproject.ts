import { setTimeout as sleep } from 'node:timers/promises';
import { and, asc, eq, gt } from 'drizzle-orm';
import { divideSegments } from '../../event/segment/batches.ts';
import { auditNow, operator } from '../../store/accounts/audit/audit.ts';
import { listSpaces } from '../../store/accounts/spaces.ts';
import type { Database } from '../../store/db/database.ts';
import { segments } from '../../store/db/schema.ts';
import { markTracesUnresolved } from '../../store/traces/unresolved-traces.ts';
import { isOutdated, type ReprojectedBatch, reprojectBatch } from './reprojected-batch.ts';

/** Segments per listing, in primary key order. */
const segmentsListed = 1_000;

/** Limits one transaction; a single larger segment is allowed. */
const batchSegmentsMax = 20;
const batchBytesMax = 8 * 1024 * 1024;

/**
 * Recomputes columns and terms of older versions from their segments (docs/reproject.md), each in the
 * transaction that marks it: a killed run can be repeated. Others continue meanwhile; it pauses as long as
 * each batch took. Writers then resolve all traces of the space again.
 * @param database with one connection. @param options `spaceId`: all spaces when undefined.
 */
export async function reproject(
  database: Database,
  {
    spaceId,
    report = () => {},
  }: { spaceId?: string | undefined; report?: (done: ReprojectedBatch) => void } = {},
): Promise<ReprojectedBatch> {
  const spaceIds = spaceId === undefined ? (await listSpaces(database)).map(({ id }) => id) : [spaceId];
  let total: ReprojectedBatch = { segments: 0, events: 0, damaged: [] };
  for (const id of spaceIds) {
    await markTracesUnresolved(database, id);
    let isFirst = true;
    for await (const batch of listBatches(database, id)) {
      if (isFirst) await auditNow(database, { spaceId: id, actor: operator, action: 'space.reproject' });
      isFirst = false;
      const startedMs = performance.now();
      total = add(total, await reprojectBatch(database, id, batch));
      report(total);
      await sleep(performance.now() - startedMs);
    }
  }
  return total;
}

function add(a: ReprojectedBatch, b: ReprojectedBatch): ReprojectedBatch {
  return {
    segments: a.segments + b.segments,
    events: a.events + b.events,
    damaged: [...a.damaged, ...b.damaged],
  };
}

/** Lists segments of an older version, in primary key order. */
async function* listBatches(database: Database, spaceId: string): AsyncGenerator<string[]> {
  for (let after: string | undefined; ; ) {
    const listed = await database
      .select({ id: segments.id, rawBytes: segments.rawBytes })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          isOutdated(),
          after === undefined ? undefined : gt(segments.id, after),
        ),
      )
      .orderBy(asc(segments.id))
      .limit(segmentsListed);
    yield* divideSegments(listed, { segmentsMax: batchSegmentsMax, bytesMax: batchBytesMax });
    after = listed.at(-1)?.id;
    if (after === undefined) return;
  }
}
