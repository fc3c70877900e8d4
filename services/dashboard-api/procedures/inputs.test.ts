import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wellFormedJson } from '../../../event/text.ts';
import { anyCharacter } from '../../../harness/fixtures/any-character.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import {
  callProcedure,
  memberNamesOf,
  procedures,
  sampleInput,
} from '../../../test/support/protocols/procedures.ts';

let dashboard: TestDashboard;
let space: TestSpace;

beforeAll(async () => {
  dashboard = await openDashboard();
  space = await dashboard.addSpace();
  // Existing data: numbers and texts at the limits of what ingest accepts.
  const absurd = { threadId: 't', userId: 'u', traceId: randomUUID(), name: 'm', source: 's', agentId: 'a' };
  await addEvents(
    dashboard.sql,
    space.spaceId,
    [Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, -0.5].map((number, i) => ({
      ...{ ...absurd, startTimeMs: i * 8e12, endTimeMs: -i, durationMs: i * 1e12, inputTokens: number },
      ...{
        outputTokens: number,
        totalTokens: 0,
        attributes: { 'otel.parent_event_id': '\u202e' },
        text: '{"x":"\\ud800"}',
      },
    })),
  );
});
afterAll(async () => {
  // No client input may cause an internal error or a stack trace in the log.
  expect(dashboard.log()).not.toMatch(/"level":[456]0|"stack"/);
  await dashboard[Symbol.asyncDispose]();
});

/** Valid values of optional members, with which unusual values of others pass more checks. */
const optional: Record<string, unknown> = {
  limit: 5,
  name: 'm',
  source: 's',
  threadId: 't',
  agentId: 'a',
  agentGroupId: 'g',
  userId: randomUUID(),
  errorCode: 'e',
  attributes: [{ key: 'k', value: 'v' }],
  minDurationMs: 0,
  maxDurationMs: 1,
  text: 'x',
  not: [{ column: 'name', value: 'n' }],
  traceId: randomUUID(),
  cursor: Buffer.from(`1_${randomUUID()}`).toString('base64url'),
  from: 0,
  to: 1,
  type: 'llm',
  state: 'ok',
  buckets: 10,
  step: 'hour',
  timeZone: 'Europe/Zurich',
  groupBy: 'model',
  groupsMax: 5,
  model: 'm',
  input: '1',
  output: '0.5',
  cacheRead: '0.1',
  cacheWrite: '0.2',
  validFrom: '2026-01-01',
};

/** Texts that are difficult for Postgres, UTF-8 or parsers. */
const odd = fc.oneof(
  fc.constantFrom(
    '\0',
    'a\0b@example.org',
    '\ud800',
    '%00',
    `${randomUUID()}\0`,
    "'; --",
    '\\',
    '{}',
    '1e400',
    '0000-01-01',
    '0000-01-01T00:00:00Z',
  ),
  fc.string({ unit: anyCharacter }),
  fc
    .string({ unit: anyCharacter })
    .map((text) => Buffer.from(`${text}_${randomUUID()}`).toString('base64url')),
  fc.double(),
  fc.jsonValue(),
  fc.array(fc.record({ key: fc.string({ unit: anyCharacter }), value: fc.string({ unit: anyCharacter }) })),
);

/** Sent in each member of each procedure, before values of {@link odd}. */
const always = ['a\0b@c', 0.5, '\ud800'];
/** How many values of {@link odd} a procedure gets for each of its members. */
const oddPerMember = 4;

// Excluded: they end the session of the other calls.
const ending = ['auth.signOut', 'sessions.revokeOthers'];

test.each(procedures.filter(({ path }) => !ending.includes(path)).map((one) => [one.path, one] as const))(
  'no input makes %s fail on the server side',
  async (_path, procedure) => {
    const headers = { cookie: space.client.cookie ?? '' };
    const valid = sampleInput(procedure, { id: randomUUID(), email: 'a@example.org' });
    // One without an input gets a member that it does not have.
    const own = memberNamesOf(procedure);
    const names = own.length === 0 ? ['other'] : own;
    const examples = names.flatMap((member) => always.map((value): [string, unknown] => [member, value]));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), odd, async (member, value) => {
        const input = { ...optional, ...valid, [member]: value };
        const { status, body } = await callProcedure(dashboard.url, procedure, input, headers);
        expect(status).toBeLessThan(500);
        // Every text that leaves is well-formed.
        expect(body).toBe(wellFormedJson(body));
      }),
      // The examples count as runs.
      { seed: 20_261_122, numRuns: examples.length + oddPerMember * names.length, examples },
    );
  },
);

test('an e-mail address with U+0000 is a bad request whose message names the field', async () => {
  const credentials = { email: 'a\0b@c', password: 'wrong' };
  await expect(space.client.trpc.auth.signIn.mutate(credentials)).rejects.toMatchObject({
    message: expect.stringMatching(/^email: /),
    data: { code: 'BAD_REQUEST' },
  });
});
