import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { events, traces } from '../../store/db/schema.ts';
import { mergedCallsMax, resolvedNodesMax, turnSpansMax } from '../../store/traces/limits.ts';
import { mergeCalls, readCallRows } from '../../store/traces/merge/merged-calls.ts';
import { readTraces } from '../../store/traces/read-traces.ts';
import { findRelations } from '../../store/traces/relations.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { messagesOf } from '../support/otlp/trace-messages.ts';
import { createDatabase } from '../support/test-servers.ts';

/** What a space with long traces takes of the writer that resolves them. */

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 60_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

const newSpace = async () => (await createSpace(database, 'test')).id;

test('a space with many long traces delays the traces of another by one turn', async () => {
  const [busy, other] = [await newSpace(), await newSpace()];
  const spans = turnSpansMax / 2 + 1;
  const addTraces = (spaceId: string, count: number) =>
    database.insert(traces).values(
      Array.from({ length: count }, () => ({
        ...{ spaceId, traceId: randomUUID(), version: 1, spans },
        ...{ unresolvedSince: new Date(0), hasCalls: true, receivedAt: new Date() },
      })),
    );
  await addTraces(busy, 5);
  await addTraces(other, 1);
  const turns: string[] = [];
  await new TraceResolver(database, { onResolved: (spaceId) => turns.push(spaceId) }).run();
  // A turn has one of these traces: two have more spans than a turn.
  expect(turns.toSorted()).toEqual([...Array(5).fill(busy), other].toSorted());
  expect(turns.indexOf(other)).toBeLessThanOrEqual(1);
});

test('calls of a long trace are merged by statements of a bounded number, and then each is one event', async () => {
  const spaceId = await newSpace();
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const calls = mergedCallsMax + 10;
  const send = async (library: string, attributes: Record<string, string>) => {
    const spans = Array.from({ length: calls }, (_, call) => ({
      ...{ traceId, parentSpanId: 'b7ad6b7169203331', startNs: 1_760_000_000_000_000_000n + BigInt(call) },
      spanId: `${library}${call.toString(16).padStart(15, '0')}`,
      attributes: {
        ...attributes,
        ...{
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.usage.input_tokens': call + 1,
          'gen_ai.usage.output_tokens': 1,
        },
      },
    }));
    for (const message of messagesOf(toProtobuf({ scope: { name: library }, spans })))
      await message(database, spaceId);
  };
  await send('a', { 'gen_ai.operation.name': 'chat' });
  await send('b', { 'gen_ai.operation.name': 'chat' });
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(2 * calls);
  const [{ traceId: id = '' } = {}] = await database.select().from(traces).where(eq(traces.spaceId, spaceId));
  const read = await readTraces(database, spaceId, { traceIds: [id], nodesMax: resolvedNodesMax });
  const relations = findRelations(read);
  const rows = await readCallRows(database, spaceId, relations);
  const steps = await Array.fromAsync(mergeCalls(database, spaceId, { ...relations, rows }));
  expect(steps.map(({ groups }) => groups.length)).toEqual([mergedCallsMax, 10]);
  await new TraceResolver(database).run();
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(calls);
});
