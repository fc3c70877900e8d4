import { randomUUID } from 'node:crypto';
import {
  Client,
  type OAuthClientProvider,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addEvents, openDashboard, type TestDashboard } from '../../../test/support/dashboard.ts';
import { startOnFreePort } from '../../../test/support/service.ts';
import {
  type OpenIdProvider,
  openOpenIdProvider,
  RedirectBrowser,
  signInAtProvider,
} from '../../../test/support/tools/openid-provider.ts';
import { callbackPath, mcpResource } from './provider.ts';

/**
 * An assistant that only knows the address of MCP: the official client finds the provider, registers itself
 * and signs a person in.
 */

let dashboard: TestDashboard;
let provider: OpenIdProvider;
const clients = new AsyncDisposableStack();
beforeAll(async () => {
  await startOnFreePort(async (port) => {
    const publicUrl = `http://127.0.0.1:${port}`;
    provider = await openOpenIdProvider(`${publicUrl}${callbackPath}`);
    dashboard = await openDashboard({
      variables: {
        DASHBOARD_PORT: String(port),
        DASHBOARD_PUBLIC_URL: publicUrl,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        OIDC_CLIENT_SECRET: provider.clientSecret,
      },
    });
  });
});
afterAll(async () => {
  await clients.disposeAsync();
  await dashboard[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const callback = 'http://localhost:1/callback';

/** Signs a person in at the provider, for a program. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = { redirect_uris: [callback], token_endpoint_auth_method: 'none' };
  client: StoredOAuthClientInformation | undefined;
  granted: OAuthTokens | undefined;
  callbackParams = new URLSearchParams();
  #verifier = '';
  readonly #person: string;

  constructor(person: string) {
    this.#person = person;
  }
  clientInformation = () => this.client;
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.client = client;
  };
  tokens = () => this.granted;
  saveTokens = (tokens: OAuthTokens) => {
    this.granted = tokens;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  async redirectToAuthorization(url: URL): Promise<void> {
    const isFollowed = (next: URL) => next.origin !== new URL(callback).origin;
    const end = await signInAtProvider(new RedirectBrowser(), url.href, { name: this.#person, isFollowed });
    this.callbackParams = end.searchParams;
  }
}

async function connect(assistant: Assistant, path = '/mcp'): Promise<Client> {
  const open = async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const transport = new StreamableHTTPClientTransport(new URL(`${dashboard.url}${path}`), {
      authProvider: assistant,
    });
    clients.defer(() => client.close());
    try {
      await client.connect(transport);
      return client;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      await transport.finishAuth(assistant.callbackParams);
      return undefined;
    }
  };
  const client = (await open()) ?? (await open());
  if (client === undefined) throw new Error('not authorized');
  return client;
}

async function call(token = '', path = '/mcp') {
  const answer = await fetch(`${dashboard.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  const challenge = answer.headers.get('www-authenticate');
  return { status: answer.status, text: await answer.text(), challenge };
}

/** A person who has signed in to the dashboard once. */
async function addPerson() {
  const space = await dashboard.addSpace();
  const name = randomUUID();
  provider.people.set(name, { email: space.email, email_verified: true });
  const isFollowed = (url: URL) =>
    url.host !== new URL(dashboard.url).host || url.pathname.startsWith('/auth/');
  await signInAtProvider(new RedirectBrowser(), `${dashboard.url}/auth/sso/start`, { name, isFollowed });
  const [id = ''] = await addEvents(dashboard.sql, space.spaceId, [{ name: 'gpt', text: '{}' }]);
  return { ...space, name, id };
}

async function listIds(client: Client): Promise<unknown[]> {
  const answer = await client.callTool({ name: 'search_events', arguments: {} });
  const { data } = answer.structuredContent as { data: { events: { id: string }[] } };
  return data.events.map(({ id }) => id);
}

test('an assistant that is told the address of MCP alone reads the space of the person who signs in', async () => {
  const person = await addPerson();
  await addPerson();
  const assistant = new Assistant(person.name);
  const client = await connect(assistant);
  expect(await listIds(client)).toEqual([person.id]);
  // A member who is removed reads nothing more.
  await dashboard.sql`DELETE FROM memberships WHERE space_id = ${person.spaceId}`;
  await expect(listIds(client)).rejects.toThrow('There is no such space.');
});

test('a person of several spaces names one in the address, and none of others', async () => {
  const [person, other, foreign] = [await addPerson(), await addPerson(), await addPerson()];
  const [user] = await dashboard.sql`SELECT user_id FROM memberships WHERE space_id = ${person.spaceId}`;
  await dashboard.sql`
    INSERT INTO memberships (user_id, space_id, role) VALUES (${user?.user_id}, ${other.spaceId}, 'viewer')`;
  const assistant = new Assistant(person.name);
  expect(await listIds(await connect(assistant, `/mcp/${other.spaceId}`))).toEqual([other.id]);
  expect(await listIds(await connect(assistant, `/mcp/${person.spaceId}`))).toEqual([person.id]);
  const token = assistant.granted?.access_token;
  expect(await call(token)).toMatchObject({
    status: 400,
    text: expect.stringContaining('name one in the address'),
  });
  expect((await call(token, `/mcp/${foreign.spaceId}`)).status).toBe(404);
});

test('a token of another resource, a changed one, and a person whom Weir does not know are refused', async () => {
  const stranger = randomUUID();
  provider.people.set(stranger, { email: 'stranger@example.org', email_verified: true });
  const unknown = new Assistant(stranger);
  await expect(connect(unknown)).rejects.toThrow('403');
  expect((await call(unknown.granted?.access_token)).text).toContain('sign in to the dashboard once');
  const person = await addPerson();
  const assistant = new Assistant(person.name);
  await connect(assistant);
  const token = assistant.granted?.access_token ?? '';
  const [head = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  expect(claims.aud).toBe(mcpResource(dashboard.url));
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: stranger })).toString('base64url');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  // The ID token is for the program, not for Weir.
  const { id_token: idToken = '' } = assistant.granted ?? {};
  expect(idToken).not.toBe('');
  for (const wrong of [idToken, `${head}.${changed}.${signature}`, `${unsigned}.${payload}.`, 'x.y.z', 'x']) {
    const { status, challenge } = await call(wrong);
    expect([wrong, status]).toEqual([wrong, 401]);
    expect(challenge).toContain('/.well-known/oauth-protected-resource/mcp"');
  }
  // It only reads MCP: the procedures take sessions and read keys.
  const answer = await fetch(`${dashboard.url}/trpc/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(401);
  expect(dashboard.log()).not.toContain(signature);
});
