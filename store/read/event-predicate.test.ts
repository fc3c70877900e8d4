import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { and, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectEvents } from '../../event/projection.ts';
import { termColumns } from '../../event/terms.ts';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { anyCharacter } from '../../harness/fixtures/any-character.ts';
import { anyFilter, anyValues, toEvent } from '../../harness/fixtures/generated-events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { type EventFilter, matchTime, matchValues } from './event-filter.ts';
import { createPredicate, predicateColumns } from './event-predicate.ts';

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 30_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

/** Letters whose lower case depends on the locale or the position in a word, or differs in length. */
const difficult = ['İstanbul', 'ISTANBUL', 'ΟΔΟΣ', 'STRAẞE', 'ǅ', 'K', 'a\\b', '%'];
const anyPrompt = fc.oneof(fc.constantFrom(...difficult), fc.string({ unit: anyCharacter, maxLength: 4 }));
const anyStored = fc
  .tuple(anyValues, fc.option(anyPrompt, { nil: undefined, freq: 2 }))
  .map(([values, prompt]) => ({ ...values, prompt: prompt ?? values.prompt }));
const anyText = fc.oneof(
  fc.constantFrom(...difficult, 'i', 'σ', 'ς', 'ß', 'ss', 'ǆ', 'k', 'stan', '\\', '_'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 2 }),
);
const anyQuery: fc.Arbitrary<EventFilter> = fc.oneof(
  anyFilter,
  fc.record({ text: anyText }),
  fc.tuple(anyFilter, anyText).map(([filter, text]) => ({ ...filter, text })),
);

test('a predicate matches exactly the rows that a list with the same filter shows', async () => {
  let shownByOne = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStored, { minLength: 5, maxLength: 25 }),
      fc.array(anyQuery, { minLength: 1, maxLength: 8 }),
      async (stored, filters) => {
        const spaceId = randomUUIDv7();
        const { eventCount, columns, terms } = projectEvents(
          stored.map((values) => toEvent(randomUUID(), values)),
        );
        const part = {
          spaceId,
          apiKeyId: spaceId,
          segmentId: randomUUIDv7(),
          receivedAtMs: 1n,
          rawBytes: 1n,
        };
        const body = zstdCompressSync(Buffer.from('x'));
        await insertParts(database, [
          create(PartSchema, { ...part, body, eventCount, columns, terms: terms.join() }),
        ]);
        const ofTerms = Object.fromEntries(termColumns.map((name) => [name, events[name]])) as Pick<
          typeof events,
          (typeof termColumns)[number]
        >;
        const { id, startTimeMs, durationMs, inputPreview, outputPreview, errorMessage } = events;
        const texts = { inputPreview, outputPreview, errorMessage };
        const rows = await database
          .select({ id, startTimeMs, durationMs, ...texts, ...ofTerms, ...predicateColumns(filters) })
          .from(events)
          .where(eq(events.spaceId, spaceId));
        for (const filter of filters) {
          const listed = await database
            .select({ id })
            .from(events)
            .where(and(eq(events.spaceId, spaceId), matchTime(filter), matchValues(filter)));
          const predicate = createPredicate(filter);
          const shown = rows.filter(predicate).map((row) => row.id);
          expect(shown.toSorted()).toEqual(listed.map((row) => row.id).toSorted());
          if (shown.length > 0 && shown.length < rows.length) shownByOne += 1;
        }
      },
    ),
    { numRuns: 150 },
  );
  // Guards against a vacuous property: many filters must match some events and not others.
  expect(shownByOne).toBeGreaterThan(50);
});
