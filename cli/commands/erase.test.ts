import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { Operator, unknownId } from '../../test/support/cli/operator.ts';
import { startNats } from '../../test/support/test-servers.ts';

const operator = new Operator();

test('without --yes it prints what would be erased, and changes nothing', async () => {
  const spaceId = await operator.createSpace();
  const events = ['a', 'b', 'a'].map((userId) => llmEvent({ context: { userId } }));
  await insertParts(operator.database, [partOf(spaceId, events)]);
  const args = ['erase', '--space', spaceId, '--user', 'a'];
  for (let run = 0; run < 2; run++) {
    const { exitCode, stdout, stderr } = await operator.run(args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: 'Nothing was erased. Add --yes to erase these events permanently.\n',
    });
    expect(JSON.parse(stdout)).toEqual({
      isPreview: true,
      events: 2,
      segments: 1,
      quarantineEvents: 0,
      from: '2025-10-09T08:53:20.000Z',
      to: '2025-10-09T08:53:20.000Z',
      isComplete: true,
    });
  }
});

test('with --yes it erases and prints the receipt as one line of JSON', async () => {
  await using nats = await startNats();
  const spaceId = await operator.createSpace();
  const events = ['a', 'b', 'a'].map((threadId) => llmEvent({ context: { threadId } }));
  await insertParts(operator.database, [partOf(spaceId, events)]);
  operator.variables.NATS_URL = nats.url;
  const { exitCode, stdout } = await operator.run(['erase', '--space', spaceId, '--thread', 'a', '--yes']);
  delete operator.variables.NATS_URL;
  expect(exitCode).toBe(0);
  expect(stdout.split('\n')).toHaveLength(2);
  expect(JSON.parse(stdout)).toMatchObject({ spaceId, subject: { thread: 'a' }, erased: { events: 2 } });
  const printed = await operator.print(['events', '--space', spaceId]);
  expect(JSON.parse(printed).id).toBe(events[1]?.id);
});

test('bad usage is rejected before anything is erased', async () => {
  const spaceId = await operator.createSpace();
  const inSpace = ['erase', '--space', spaceId];
  const cases: [string[], number, string][] = [
    [inSpace, 2, 'one of --user, --thread and --before'],
    [[...inSpace, '--user', 'a', '--thread', 'b'], 2, 'one of --user, --thread and --before'],
    [[...inSpace, '--before', 'yesterday', '--yes'], 2, 'It must be a time'],
    [[...inSpace, '--before', 'ticket 4711', '--yes'], 2, 'It must be a time'],
    [[...inSpace, '--before', '2026-11-30T12:00:00', '--yes'], 2, 'It must be a time'],
    [[...inSpace, '--before', new Date(Date.now() + 60_000).toISOString(), '--yes'], 2, 'the future'],
    [[...inSpace, '--before', String(Date.now() + 60_000), '--yes'], 2, 'the future'],
    [['erase', '--user', 'a'], 2, '--space'],
    [['erase', '--space', unknownId, '--user', 'a', '--yes'], 1, 'There is no space'],
    [['erase', '--space', 'x', '--user', 'a', '--yes'], 1, 'its id is a UUID'],
    // Without the queue it is unknown which events were accepted.
    [[...inSpace, '--user', 'a', '--yes'], 1, 'NATS_URL'],
  ];
  for (const [args, exitCode, message] of cases) {
    const result = await operator.run(args);
    expect(result).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
  }
});
