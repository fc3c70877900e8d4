import { expect, test } from 'vitest';
import { someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { runWeir } from '../../test/support/cli/command-line.ts';
import { postEvents } from '../../test/support/http.ts';
import { usePipeline } from '../../test/support/use-pipeline.ts';
import { untilDrained } from '../../test/support/wait.ts';

const { pipeline, tenant } = usePipeline({ variables: { LOG_LEVEL: 'debug' } });

async function send(events: object[]): Promise<string> {
  const { headers } = await postEvents(pipeline, tenant, events);
  return headers.get('weir-batch-id') ?? '';
}

async function find(batchId: string) {
  const { exitCode, stdout, stderr } = await runWeir(['find', batchId], pipeline.variables);
  expect(exitCode).toBe(0);
  return {
    locations: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    stderr,
  };
}

const idsOf = (events: object[]) => events.map((event) => (event as { id: string }).id);

test('the batch id of each request locates its events, even when requests share a segment', async () => {
  const requests = [1, 2, 3, 1, 2].map((count) => someEvents(count));
  const batchIds = await Promise.all(requests.map(send));
  expect(new Set(batchIds).size).toBe(requests.length);
  await untilDrained(pipeline);
  for (const [at, batchId] of batchIds.entries()) {
    const { locations, stderr } = await find(batchId);
    expect(locations).toMatchObject([
      {
        spaceId: tenant.spaceId,
        apiKeyId: tenant.keyId,
        receivedAt: expect.stringMatching(/Z$/),
        stored: idsOf(requests[at] ?? []),
        quarantined: [],
        missing: 0,
      },
    ]);
    expect(stderr).toBe('');
  }
});

test('the batch id is in the log line of its message, and its segment in that of its statement', async () => {
  const batchId = await send(someEvents(1));
  await untilDrained(pipeline);
  const [segmentId = ''] = batchId.split(':');
  const lineWith = (log: string, text: string) => log.split('\n').find((line) => line.includes(text));
  expect(lineWith(pipeline.ingest.log(), batchId)).toContain('"msg":"committed"');
  expect(lineWith(pipeline.writer.log(), segmentId)).toContain('"msg":"stored"');
});

test('a batch without events, and a retry that the queue recognises, have no batch id', async () => {
  const events = someEvents(2);
  expect(await send(events)).not.toBe('');
  expect(await send(events)).toBe('');
  expect(await send([])).toBe('');
});

test('an event that Postgres rejected is found in quarantine, and after its replay among the stored events', async () => {
  const { sql, database } = pipeline;
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const poison = toolEvent({ properties: { tool: { name: 'poison' } } });
  const good = someEvents(2);
  const batchId = await send([...good, poison]);
  await untilDrained(pipeline);
  const { locations } = await find(batchId);
  expect(locations).toMatchObject([{ stored: idsOf(good), quarantined: idsOf([poison]), missing: 0 }]);
  await sql`ALTER TABLE events DROP CONSTRAINT poison`;
  await replayQuarantined(database);
  const [{ stored, quarantined }] = (await find(batchId)).locations;
  expect({ stored: stored.sort(), quarantined }).toEqual({
    stored: idsOf([...good, poison]).sort(),
    quarantined: [],
  });
});

test('events that are not stored yet are reported as possibly queued, and events stored before are not', async () => {
  const events = someEvents(2);
  await send(events);
  await untilDrained(pipeline);
  // In another order the queue does not recognise the repeated batch.
  const again = await send([...events].reverse());
  await untilDrained(pipeline);
  const repeated = await find(again);
  expect(repeated.locations).toMatchObject([{ stored: [], missing: 2 }]);
  expect(repeated.stderr).toMatch(/^2 events are not stored under this id. The queue is empty. Otherwise/);

  await pipeline.writer.stop('SIGTERM');
  const waiting = await find(await send(someEvents(1)));
  expect(waiting.locations).toMatchObject([{ stored: [], missing: 1 }]);
  expect(waiting.stderr).toMatch(
    /^1 event is not stored under this id. The oldest message in the queue is from /,
  );
});

test('any text other than a batch id is bad usage', async () => {
  const { exitCode, stderr } = await runWeir(['find', 'x'], pipeline.variables);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('It must be a Weir-Batch-Id');
});
