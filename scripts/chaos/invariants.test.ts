import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../test/support/events.ts';
import { postEvents } from '../../test/support/http.ts';
import { type Pipeline, startPipeline } from '../../test/support/pipeline.ts';
import { untilDrained } from '../../test/support/wait.ts';
import { findDiscrepancies } from './invariants.ts';
import { Journal } from './journal.ts';

const ids = someEvents(5).map(({ id }) => String(id));
const none = { lost: 0, duplicated: 0, refusedButStored: 0, miscounted: 0 };
let pipeline: Pipeline;
let spaceId: string;

beforeAll(async () => {
  pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  ({ spaceId } = tenant);
  await postEvents(
    pipeline,
    tenant,
    someEvents(5).map((event, i) => ({ ...event, id: ids[i] })),
  );
  await untilDrained(pipeline);
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

function journalOf(outcomes: Parameters<Journal['note']>[2][], noted = ids): Journal {
  const journal = new Journal();
  for (const outcome of outcomes) journal.note(spaceId, noted, outcome);
  return journal;
}

test('what was accepted and is stored is in order, and so is what nobody knows about', async () => {
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual(none);
  expect(await findDiscrepancies(pipeline, journalOf(['unknown']))).toEqual(none);
  const upperCase = ids.map((id) => id.toUpperCase());
  expect(await findDiscrepancies(pipeline, journalOf(['accepted'], upperCase))).toEqual(none);
  const neverArrived = journalOf(['unknown'], [...ids, randomUUID()]);
  expect(await findDiscrepancies(pipeline, neverArrived)).toEqual(none);
});

test('what was accepted and is not stored is lost', async () => {
  const journal = journalOf(['unknown', 'accepted'], [...ids, randomUUID(), randomUUID()]);
  expect(await findDiscrepancies(pipeline, journal)).toEqual({ ...none, lost: 2 });
});

test('what only ever got 4xx must not be stored, and neither must what nobody sent', async () => {
  expect(await findDiscrepancies(pipeline, journalOf(['refused']))).toEqual({ ...none, refusedButStored: 5 });
  expect(await findDiscrepancies(pipeline, journalOf(['refused', 'accepted']))).toEqual(none);
  const unsent = journalOf(['accepted'], ids.slice(2));
  expect(await findDiscrepancies(pipeline, unsent)).toEqual({ ...none, duplicated: 2 });
});

test('usage and statistics are compared with the rows, month by month', async () => {
  const { sql } = pipeline;
  await sql`UPDATE usage_months SET events = events + 1 WHERE space_id = ${spaceId}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual({ ...none, miscounted: 1 });
  await sql`UPDATE usage_months SET events = events - 1, month = '2001-01' WHERE space_id = ${spaceId}`;
  expect(await findDiscrepancies(pipeline, journalOf(['accepted']))).toEqual({ ...none, miscounted: 10 });
});
