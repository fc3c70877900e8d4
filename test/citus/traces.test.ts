import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { eraseNodes } from '../../operations/erasure/erased-nodes.ts';
import { beginErasure } from '../../operations/erasure/erasure-row.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { traceNodes } from '../../store/db/schema.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { evaluationsOf, findMisplaced } from '../support/otlp/evaluated-spans.ts';
import { findMismatches } from '../support/otlp/stored-traces.ts';
import { messagesOf, toRequest } from '../support/otlp/trace-messages.ts';
import { observeTrace, traceKinds } from '../support/otlp/trace-observation.ts';

describe.skipIf(citusUrl === undefined)('traces on the Citus cluster of WEIR_TEST_CITUS_URL', () => {
  const resources = new AsyncDisposableStack();
  let database: Database;
  beforeAll(async () => {
    const { url } = resources.use(await createCitusDatabase(citusUrl ?? ''));
    const options = { applicationName: 'test', connectionsMax: 6, statementTimeoutMs: 60_000 };
    database = openDatabase(resources.use(openPostgres(url, options)));
  }, turnTimeoutMs);
  afterAll(() => resources.disposeAsync());

  test('spans of a request each, those above last, are resolved: calls, agents, threads, users and evaluations are as observed; spans can be erased', async () => {
    const random = createRandom(1);
    const observed = traceKinds.map((kind, number) => observeTrace(random, kind, number));
    const { id: spaceId } = await createSpace(database, 'test');
    const spans = observed.flatMap((one) => one.spans.toReversed());
    const failures: unknown[] = [];
    const resolver = new TraceResolver(database, { onError: (error) => failures.push(error) });
    for (const [place, span] of spans.entries()) {
      // Spans come before or after their events and evaluations, which then make the trace unresolved again.
      const messages = [...messagesOf(toRequest([span])), ...messagesOf(evaluationsOf([span]), 'otlpLogs')];
      for (const message of place % 2 === 0 ? messages : messages.toReversed())
        await message(database, spaceId);
      if (place % 5 === 0) await resolver.run();
    }
    await resolver.run();
    const expected = observed.flatMap((one) => one.events);
    expect(await findMismatches(database, spaceId, expected)).toEqual([]);
    expect(await findMisplaced(database, spaceId, observed)).toEqual([]);
    expect(failures).toEqual([]);
    const subject = { kind: 'user', value: expected[0]?.userId ?? '' } as const;
    const start = { atMs: Date.now(), commitNumber: 0, watermarks: [] };
    const begun = { subject, start, reason: undefined, request: undefined };
    expect(await eraseNodes(database, await beginErasure(database, spaceId, begun))).toBeGreaterThan(0);
    expect(await database.$count(traceNodes, eq(traceNodes.userId, subject.value))).toBe(0);
  }, 180_000);
});
