import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { postEvents } from '../../../test/support/http.ts';
import { usePipeline } from '../../../test/support/use-pipeline.ts';
import { untilDrained } from '../../../test/support/wait.ts';
import { someEvents } from '../../fixtures/events.ts';
import { Journal } from '../load/journal.ts';
import { findDiscrepancies } from './invariants.ts';

const ids = someEvents(5).map(({ id }) => String(id));
const none = { lost: 0, duplicated: 0, rejectedButStored: 0, miscounted: 0 };
const { pipeline, tenant } = usePipeline();

beforeAll(async () => {
  await postEvents(
    pipeline,
    tenant,
    someEvents(5).map((event, i) => ({ ...event, id: ids[i] })),
  );
  await untilDrained(pipeline);
});

function journalOf(outcomes: Parameters<Journal['record']>[2][], noted = ids): Journal {
  const journal = new Journal();
  for (const outcome of outcomes) journal.record(tenant.spaceId, noted, outcome);
  return journal;
}

test('accepted events that are stored, and events with an unknown outcome, are no discrepancy', async () => {
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual(none);
  expect(await findDiscrepancies(pipeline, journalOf(['unknown']))).toEqual(none);
  const upperCase = ids.map((id) => id.toUpperCase());
  expect(await findDiscrepancies(pipeline, journalOf(['accepted'], upperCase))).toEqual(none);
  const neverArrived = journalOf(['unknown'], [...ids, randomUUID()]);
  expect(await findDiscrepancies(pipeline, neverArrived)).toEqual(none);
});

test('accepted events that are not stored are lost', async () => {
  const journal = journalOf(['unknown', 'accepted'], [...ids, randomUUID(), randomUUID()]);
  expect(await findDiscrepancies(pipeline, journal)).toEqual({ ...none, lost: 2 });
});

test('stored events that were only ever rejected, or never sent, are discrepancies', async () => {
  expect(await findDiscrepancies(pipeline, journalOf(['rejected']))).toEqual({
    ...none,
    rejectedButStored: 5,
  });
  expect(await findDiscrepancies(pipeline, journalOf(['rejected', 'accepted']))).toEqual(none);
  const unsent = journalOf(['accepted'], ids.slice(2));
  expect(await findDiscrepancies(pipeline, unsent)).toEqual({ ...none, duplicated: 2 });
});

test('the ledger has the ids of the rows, and no others', async () => {
  const { sql } = pipeline;
  const { spaceId } = tenant;
  const extra = randomUUID();
  await sql`INSERT INTO event_ids (space_id, id) VALUES (${spaceId}, ${extra})`;
  await sql`DELETE FROM event_ids WHERE space_id = ${spaceId} AND id = ${ids[0] ?? ''}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual({ ...none, miscounted: 2 });
  await sql`UPDATE event_ids SET id = ${ids[0] ?? ''} WHERE space_id = ${spaceId} AND id = ${extra}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual(none);
});

test('usage and statistics are compared with the rows, month by month', async () => {
  const { sql } = pipeline;
  const { spaceId } = tenant;
  await sql`UPDATE usage_months SET events = events + 1 WHERE space_id = ${spaceId}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual({ ...none, miscounted: 1 });
  await sql`UPDATE usage_months SET events = events - 1, month = '2001-01' WHERE space_id = ${spaceId}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual({ ...none, miscounted: 10 });
});
