import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { dayMs } from '../../platform/time.ts';
import { clockDifferenceMsMax } from '../../store/db/limits.ts';
import { correctReceipts } from './receipt-time.ts';

const spaceId = crypto.randomUUID();

test("events received while ingest's clock was behind get the time at which they were queued", () => {
  const [fresh, behind] = [agedPart(spaceId, someEvents(1), 0), agedPart(spaceId, someEvents(3), 8)];
  const [freshMs, queuedAtMs] = [fresh.receivedAtMs, Date.now()];
  expect(correctReceipts({ parts: [fresh, behind], traceNodes: [] }, queuedAtMs)).toBe(3);
  expect([fresh.receivedAtMs, behind.receivedAtMs]).toEqual([freshMs, BigInt(queuedAtMs)]);
});

test('a message that waited in the queue keeps its time of receipt, and no event gets a time in the future', () => {
  const waited = agedPart(spaceId, someEvents(1), 8);
  const receivedAtMs = waited.receivedAtMs;
  expect(
    correctReceipts({ parts: [waited], traceNodes: [] }, Number(receivedAtMs) + clockDifferenceMsMax),
  ).toBe(0);
  expect(waited.receivedAtMs).toBe(receivedAtMs);
  // The clock of nats-server is ahead.
  correctReceipts({ parts: [waited], traceNodes: [] }, Date.now() + dayMs);
  expect(Number(waited.receivedAtMs)).toBeLessThanOrEqual(Date.now());
});
