import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import { Operator } from '../../test/support/cli/operator.ts';

const operator = new Operator();

test('storage shows the partitions, their expiry, and the rows outside of all weeks', async () => {
  const empty = await operator.weir('storage');
  expect(empty).toMatchObject({ retentionDaysMax: null, nextDrop: null, defaultPartition: { events: 0 } });
  const [short, forEver] = [
    await operator.createSpace('--retention-days', '30'),
    await operator.createSpace(),
  ];
  const expiring = agedPart(short, someEvents(3), 20);
  const parts = [expiring, agedPart(short, someEvents(2), 60), agedPart(forEver, someEvents(4), 60)];
  await insertParts(operator.database, parts);
  await ensurePartitions(operator.database, Date.now());
  const astray = agedPart(forEver, someEvents(1), 1);
  astray.segmentId = astray.segmentId.replace(/^..../, '7fff');
  await insertParts(operator.database, [astray]);

  const report = await operator.weir('storage');
  expect(report.defaultPartition).toEqual({ events: 1, segments: 1, bytes: expect.any(Number) });
  const weekOf = (part: { receivedAtMs: bigint }) => {
    const received = new Date(Number(part.receivedAtMs)).toISOString();
    return report.partitions.find(
      (one: { from: string; to: string }) => one.from <= received && received < one.to,
    );
  };
  const [mixed, next] = [weekOf(parts[1] ?? expiring), weekOf(expiring)];
  expect(mixed).toMatchObject({ events: 6, spaces: 2, expiresAt: null });
  expect(mixed.eventBytes).toBeGreaterThan(0);
  const at = new Date(Date.parse(next.to) + 30 * 24 * 60 * 60_000).toISOString();
  expect(next).toMatchObject({ events: 3, spaces: 1, expiresAt: at });
  expect(report.nextDrop).toEqual({ partitions: next.partitions, at });
  expect(report.totalBytes).toBeGreaterThan(report.ledgerBytes + report.statisticsBytes);
});
