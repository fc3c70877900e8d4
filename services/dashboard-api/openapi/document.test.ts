import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiKey } from '../../../store/accounts/api-keys.ts';
import {
  addEvents,
  dashboardPepper,
  openDashboard,
  type TestDashboard,
} from '../../../test/support/dashboard.ts';
import { procedures, sampleInput } from '../../../test/support/protocols/procedures.ts';
import { summaries } from './summaries.ts';

/**
 * The document, against the service that it describes. `npm run check` has redocly check the document alone.
 */

interface Operation {
  summary: string;
  parameters?: { name: string; content?: object; schema?: object }[];
  requestBody?: object;
  responses: Record<string, { content: Record<string, object> }>;
}
interface Document {
  paths: Record<string, Record<'get' | 'post', Operation>>;
}

let dashboard: TestDashboard;
let document: Document;
/** Knows the document: to check and read it again for each schema took most of the time. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
let apiKey: string;
let id: string;
let spaceId: string;
beforeAll(async () => {
  dashboard = await openDashboard();
  ({ spaceId } = await dashboard.addSpace());
  [id = ''] = await addEvents(dashboard.sql, spaceId, [{ threadId: 'x', userId: 'x', text: '{"a":1}' }]);
  await dashboard.sql`UPDATE events SET trace_id = id WHERE space_id = ${spaceId}`;
  const options = { name: 'k', pepper: dashboardPepper, scope: 'administration' } as const;
  ({ apiKey } = await issueApiKey(dashboard.database, spaceId, options));
  // Without a key: the document has no data of a space.
  document = (await (await fetch(`${dashboard.url}/openapi.json`)).json()) as Document;
  ajv.addSchema(document, 'openapi');
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const ofKeys = ['everybody', 'viewer', 'member', 'admin'];
const reads = procedures.filter(({ type, access = '', isAnnotation }) =>
  type === 'mutation' ? isAnnotation : ofKeys.includes(access),
);
const queries = reads.filter(({ type }) => type === 'query').map((query) => [query.path, query] as const);

test('it has every procedure that a key may call, and no other', () => {
  const described = Object.keys(document.paths).filter((path) => path.startsWith('/trpc/'));
  expect(described).toEqual(reads.map(({ path }) => `/trpc/${path}`).toSorted());
  expect(Object.keys(summaries).filter((path) => !described.includes(`/trpc/${path}`))).toEqual([]);
});

/** Compiles the schema at a place in the document. */
function matcher(...place: string[]) {
  const keys = place.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
  return ajv.compile({ $ref: `openapi#/${keys.join('/')}` });
}

test.each(queries)(
  'calls of %s that are generated from it are answered as it says, by GET and POST',
  async (name, query) => {
    const path = `/trpc/${name}`;
    const input = sampleInput(query, { spaceId, id, email: 'x@example.org' });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const text = JSON.stringify(input);
    const calls = {
      get: fetch(`${dashboard.url}${path}?input=${encodeURIComponent(text)}`, { headers }),
      post: fetch(`${dashboard.url}${path}`, { method: 'POST', headers, body: text }),
    };
    for (const method of ['get', 'post'] as const) {
      const { parameters, requestBody } = document.paths[path]?.[method] ?? {};
      if (query.inputs.length > 0) {
        const place = method === 'get' ? ['parameters', '0'] : ['requestBody'];
        expect(method === 'get' ? parameters : requestBody).toBeDefined();
        const accepts = matcher('paths', path, method, ...place, 'content', 'application/json', 'schema');
        expect(accepts(input), JSON.stringify(accepts.errors)).toBe(true);
      }
      const answer = await calls[method];
      // Not found: the generated id is not one of an end user, for example.
      const status = answer.status === 404 ? '404' : '200';
      expect([method, String(answer.status)]).toEqual([method, status]);
      const matches = matcher(
        'paths',
        path,
        method,
        'responses',
        status,
        'content',
        'application/json',
        'schema',
      );
      const body = await answer.json();
      expect(matches(body), JSON.stringify([body, matches.errors])).toBe(true);
    }
  },
);

test('refused calls are answered as it says', async () => {
  const matches = matcher('components', 'schemas', 'Failure');
  const bad = `${dashboard.url}/trpc/events.get?input=${encodeURIComponent('{"id":1}')}`;
  for (const [status, headers] of [
    [401, {}],
    [400, { authorization: `Bearer ${apiKey}` }],
  ] as const) {
    const answer = await fetch(bad, { headers });
    expect(answer.status).toBe(status);
    const body = await answer.json();
    expect(matches(body), JSON.stringify([body, matches.errors])).toBe(true);
  }
});
