import { expect, test } from 'vitest';
import { quarantine } from '../../store/db/schema.ts';
import { Operator, unknownId } from '../../test/support/cli/operator.ts';

const operator = new Operator();

test('quarantine is empty when nothing was rejected', async () => {
  expect(await operator.weir('quarantine', 'list')).toEqual([]);
  expect(await operator.weir('quarantine', 'replay')).toEqual({ replayed: [], failed: [] });
});

test('quarantined events are listed without their content, and stay when they are rejected again', async () => {
  const spaceId = await operator.createSpace();
  await operator.database.insert(quarantine).values({
    spaceId,
    id: unknownId,
    receivedAt: new Date('2026-01-02T03:04:05.678Z'),
    eventCount: 1,
    sqlstate: '23514',
    message: 'rejected',
    part: Buffer.from('secret'),
  });
  const listed = await operator.weir('quarantine', 'list', '--space', spaceId);
  expect(listed).toEqual([
    {
      id: unknownId,
      spaceId,
      receivedAt: '2026-01-02T03:04:05.678Z',
      quarantinedAt: expect.stringMatching(/Z$/),
      eventCount: 1,
      sqlstate: '23514',
      message: 'rejected',
    },
  ]);
  const { exitCode, stdout, stderr } = await operator.run(['quarantine', 'replay', unknownId]);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ replayed: [], failed: [{ id: unknownId }] });
  expect(stderr).toBe('weir: Rejected again, and still in quarantine: 1.\n');
  expect(await operator.weir('quarantine', 'list', '--space', spaceId)).toEqual(listed);
  await operator.database.delete(quarantine);
});
