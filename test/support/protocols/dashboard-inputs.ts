import fc from 'fast-check';
import { anyCharacter } from '../../../harness/fixtures/any-character.ts';
import { appRouter } from '../../../services/dashboard-api/router.ts';

/** Generates calls of hostile or broken clients: request targets, and inputs of procedures. */

const procedures = Object.keys(appRouter._def.procedures);

const strings = fc.oneof(
  fc.constantFrom(
    '',
    '\0',
    'a\0b@c',
    '\ud800',
    '\uFFFD',
    "'; --",
    '1e999',
    '-0',
    '7f1f6f0e-3c5b-4f60-9a51-0a5c0a6f8f12',
  ),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(1_000, 70_000).map((length) => 'x'.repeat(length)),
);
const values = fc.oneof(
  strings,
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, -8.64e15, 2 ** 53, 2 ** 63, [], {}, ['a'], { toString: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** An input with names that procedures have, so that it passes the first checks. */
const inputs = fc
  .dictionary(
    fc.constantFrom(
      ...['email', 'password', 'spaceId', 'id', 'cursor', 'limit', 'type', 'state', 'name', 'from', 'to'],
      ...['threadId', 'traceId', 'userId', '__proto__', 'constructor'],
    ),
    values,
  )
  .map((input) => JSON.stringify(input));

export const jsonTexts = fc.oneof(
  { weight: 4, arbitrary: inputs },
  // A batch of calls.
  inputs.map((input) => `{"0":${input},"1":${input}}`),
  fc.json(),
  fc.constantFrom('', '{', '[]', 'null', '{"0":', '\uFEFF{}', '{"a":1}{"a":2}', `${'['.repeat(5_000)}`),
  strings,
);

const procedurePaths = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...procedures) },
  fc.array(fc.constantFrom(...procedures), { minLength: 2, maxLength: 30 }).map((paths) => paths.join(',')),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    'auth',
    'auth.__proto__',
    'events.list.then',
    '%zz',
    '%00',
    '%ff',
    ',',
    ',,',
    '..',
    'me/',
    'me/me',
  ),
  fc.webSegment(),
);

export const targets = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        procedurePaths,
        fc.constantFrom(
          '',
          '&batch=1',
          '&batch=0',
          '&batch=1&batch=1',
          '&connectionParams=x',
          '&lastEventId=%00',
        ),
        jsonTexts,
        fc.boolean(),
      )
      .map(([path, more, text, isEncoded]) => {
        const input = isEncoded ? encodeURIComponent(text.toWellFormed()) : text.replace(/[^!-~]/g, '%');
        return `/trpc/${path}?input=${input.slice(0, 8_000)}${more}`;
      }),
  },
  fc.constantFrom(
    '/',
    '/trpc',
    '/trpc/',
    '//',
    '*',
    '/healthz',
    '/readyz',
    '/readyz?x',
    '/mcp',
    '/mcp?x',
    '/openapi.json',
    '/../trpc/me',
    '/trpc/me?',
    '/trpc/me?input=%',
    '/trpc/me?input=%E0%A4',
    'http://other.test/trpc/me',
    'http://',
    '/trpc/me#x',
    '/trpc\\me',
  ),
);

/** Calls that pass the checks of names and types: only the contents of their strings are unusual. */
export const calls = fc.oneof(
  fc.record({ email: strings, password: strings }).map((input) => ({
    method: 'POST',
    target: '/trpc/auth.signIn',
    body: Buffer.from(JSON.stringify(input)),
  })),
  fc
    .record({ name: strings, threadId: strings, userId: strings, cursor: strings }, { requiredKeys: [] })
    .map((input) => ({
      method: 'GET',
      target: `/trpc/events.list?input=${encodeURIComponent(JSON.stringify(input)).slice(0, 8_000)}`,
      body: Buffer.alloc(0),
    })),
);
