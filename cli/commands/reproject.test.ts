import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { projectionVersion } from '../../event/projection.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { events, segments } from '../../store/db/schema.ts';
import { Operator, unknownId } from '../../test/support/cli/operator.ts';

const operator = new Operator();

test('one space is recomputed, and damaged segments are named and left unchanged', async () => {
  const [spaceId, other] = [await operator.createSpace(), await operator.createSpace()];
  const { database } = operator;
  const parts = [spaceId, spaceId, other].map((space) => partOf(space, someEvents(2)));
  await insertParts(database, parts);
  await database.update(segments).set({ projection: projectionVersion - 1, terms: [] });
  await database.update(events).set({ userId: null });
  const damagedId = parts[1]?.segmentId ?? '';
  await database
    .update(segments)
    .set({ body: Buffer.from('damaged') })
    .where(eq(segments.id, damagedId));
  const args = ['reproject', '--space', spaceId];
  const { exitCode, stdout, stderr } = await operator.run(args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '1 segments recomputed\n' });
  expect(JSON.parse(stdout)).toEqual({ segments: 1, events: 2, damaged: [damagedId] });
  const rows = await database.select({ segmentId: events.segmentId, userId: events.userId }).from(events);
  for (const { segmentId, userId } of rows)
    expect(userId).toBe(segmentId === parts[0]?.segmentId ? 'user-1' : null);
});

test('events queued by an older version of ingest are found by their version', async () => {
  const spaceId = await operator.createSpace();
  const { database } = operator;
  const older = partOf(spaceId, someEvents(2), { projection: projectionVersion - 1 });
  if (older.columns) older.columns.userId = '';
  await insertParts(database, [older, partOf(spaceId, someEvents(2))]);
  const readVersions = async () => {
    const rows = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
    return rows.map(({ projection }) => projection).toSorted();
  };
  expect(await readVersions()).toEqual([projectionVersion - 1, projectionVersion]);
  const { stdout } = await operator.run(['reproject', '--space', spaceId]);
  expect(JSON.parse(stdout)).toEqual({ segments: 1, events: 2, damaged: [] });
  expect(await readVersions()).toEqual([projectionVersion, projectionVersion]);
  const rows = await database.select().from(events).where(eq(events.segmentId, older.segmentId));
  expect(rows.map(({ userId }) => userId)).toEqual(['user-1', 'user-1']);
});

test('an unknown space is rejected', async () => {
  const { exitCode, stderr } = await operator.run(['reproject', '--space', unknownId]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no space'),
  });
});
