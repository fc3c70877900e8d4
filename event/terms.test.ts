import { createHash, randomUUIDv7 } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PartSchema } from '../gen/weir/queue/v1/queue_pb.ts';
import { anyCharacter } from '../harness/fixtures/any-character.ts';
import { llmEvent, toolEvent } from '../harness/fixtures/events.ts';
import { termsOfPart } from '../store/write/part-terms.ts';
import type { IngestEvent } from './event.ts';
import { attributesCharsMax, columnCharsMax, recentTermsMax, segmentTermsMax } from './limits.ts';
import { projectEvents } from './projection.ts';
import { anyTerm, hashTerm, inSpace, unionTerms } from './terms.ts';
import { compileBatchRules } from './validate.ts';

const { validateBatch } = compileBatchRules('weir');
const validate = (events: readonly object[]): readonly IngestEvent[] => validateBatch({ events });
const termsOf = (...events: object[]) => projectEvents(validate(events)).terms;

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.constantFrom('"', '\\', ',', 'NULL', '\0', '\ud800'),
);
const anyEvent = fc
  .record({
    make: fc.constantFrom(llmEvent, toolEvent),
    state: fc.constantFrom('ok', 'error'),
    code: fc.oneof(text, fc.double({ noDefaultInfinity: true, noNaN: true })),
    threadId: text,
    userId: text,
    // Different keys whose stored text is equal have one entry in the column, but one term each.
    attributes: fc.dictionary(
      fc.constantFrom('k', '"', '\\', 'nul\0', '__proto__', ''),
      fc.oneof(text, fc.double({ noDefaultInfinity: true, noNaN: true })),
      {
        maxKeys: 3,
      },
    ),
  })
  .map(({ make, state, code, threadId, userId, attributes }) =>
    make({
      status: { state, error: { code } },
      context: { threadId, userId },
      additionalProperties: attributes,
    }),
  );

test('the writer computes the same terms from the columns as ingest does from the events', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 5 }), (sent) => {
      const { eventCount, columns, terms } = projectEvents(validate(sent));
      const spaceId = randomUUIDv7();
      const part = create(PartSchema, { spaceId, segmentId: randomUUIDv7(), eventCount, columns });
      expect(new Set(termsOfPart(part).split(',').map(BigInt))).toEqual(new Set(inSpace(spaceId, terms)));
    }),
    { numRuns: 300 },
  );
});

test('a term is the start of a SHA-256, however many others are computed in between', () => {
  const termOf = (value: string) => hashTerm({ column: 'userId', value }, 'any');
  const long = 'x'.repeat(columnCharsMax);
  const expected = ['user-1', long].map((value) =>
    createHash('sha256').update(`any\0userId\0${value}`).digest().readBigInt64BE(),
  );
  for (const others of [0, 1, recentTermsMax + 1]) {
    for (let other = 0; other < others; other++) termOf(`other-${others}-${other}`);
    expect([termOf('user-1'), termOf(long)]).toEqual(expected);
  }
});

test('terms of equal texts differ by column, attribute, state and space', () => {
  const value = 'x';
  const all = [
    hashTerm({ column: 'userId', value }, 'any'),
    hashTerm({ column: 'userId', value }, 'error'),
    hashTerm({ column: 'threadId', value }, 'any'),
    hashTerm({ attribute: 'userId', value }, 'any'),
    hashTerm({ attribute: 'user', value: `Id${value}` }, 'any'),
  ];
  const spaces = [randomUUIDv7(), randomUUIDv7()].flatMap((spaceId) => inSpace(spaceId, all));
  expect(new Set([...all, ...spaces]).size).toBe(3 * all.length);
});

test('only events with the state error have terms of errors', () => {
  const term = hashTerm({ column: 'userId', value: 'user-1' }, 'error');
  const ok = llmEvent();
  const failed = llmEvent({ status: { state: 'error' } });
  expect(termsOf(ok)).not.toContain(term);
  for (const events of [[failed], [ok, failed], [failed, ok], [ok, ok, failed]])
    expect(termsOf(...events)).toContain(term);
});

test('a term is computed from the stored value', () => {
  const long = 'x'.repeat(columnCharsMax);
  const term = hashTerm({ column: 'threadId', value: `${long}tail` }, 'any');
  expect(termsOf(llmEvent({ context: { threadId: `${long}other` } }))).toContain(term);
});

test('when additional properties exceed the limit, the shortest are kept, in the column and as terms', () => {
  const properties = {
    text: 'x'.repeat(attributesCharsMax),
    n: 1,
    ...Object.fromEntries(manyProperties(1_000)),
  };
  const event = llmEvent({ additionalProperties: properties });
  const { columns, terms } = projectEvents(validate([event]));
  const kept = JSON.parse(JSON.parse(columns.attributes)) as Record<string, unknown>;
  expect(JSON.stringify(kept).length).toBeLessThanOrEqual(attributesCharsMax);
  expect(JSON.stringify(kept).length).toBeGreaterThan(attributesCharsMax - 20);
  expect(kept).toMatchObject({ n: 1, k0: 'v0', k9: 'v9' });
  expect(kept).not.toHaveProperty('text');
  for (const [key, value] of Object.entries(properties)) {
    const term = hashTerm({ attribute: key, value: String(value) }, 'any');
    expect(terms.includes(term), key).toBe(key in kept);
  }
});

test('more terms than the limit are replaced by the term that matches every filter', () => {
  const events = Array.from({ length: 50 }, (_, event) =>
    llmEvent({ additionalProperties: Object.fromEntries(manyProperties(300, `${event}-`)) }),
  );
  expect(termsOf(...events)).toEqual([anyTerm]);
  const half = Array.from({ length: segmentTermsMax / 2 + 1 }, (_, i) => BigInt(i));
  expect(unionTerms([half, half])).toHaveLength(half.length);
  expect(unionTerms([half, half.map((term) => -term - 1n)])).toEqual([anyTerm]);
  expect(unionTerms([half, [anyTerm]])).toEqual([anyTerm]);
});

function manyProperties(count: number, prefix = ''): [string, string][] {
  return Array.from({ length: count }, (_, i) => [`k${prefix}${i}`, `v${i}`]);
}
