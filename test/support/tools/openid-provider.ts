import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** The claims of the provider about a user, by sign-in name. */
export interface Person {
  email?: string;
  email_verified?: boolean;
}

/** A real OpenID provider (oidc-provider) on a free port, with one client. */
export interface OpenIdProvider extends AsyncDisposable {
  issuer: string;
  clientId: string;
  clientSecret: string;
  people: Map<string, Person>;
}

export async function openOpenIdProvider(redirectUri: string): Promise<OpenIdProvider> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  const client = { clientId: 'weir', clientSecret: 'a secret of the tests, 32 characters' };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    // Programs register themselves, and get access tokens for the resource that they name.
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: 'read',
          audience: resource,
          accessTokenFormat: 'jwt',
        }),
      },
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
  });
  server.on('request', provider.callback());
  return {
    issuer,
    ...client,
    people,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A minimal browser for redirects, forms and cookies. It has one cookie jar, since cookies ignore ports. */
export class RedirectBrowser {
  readonly cookies = new Map<string, string>();

  /**
   * Follows redirects while `isFollowed` accepts their target.
   * @returns the last target and the last response.
   */
  async open(
    address: string,
    {
      form,
      isFollowed = () => true,
    }: { form?: Record<string, string>; isFollowed?: (url: URL) => boolean } = {},
  ): Promise<{ url: URL; response: Response }> {
    let url = new URL(address);
    let body = form && new URLSearchParams(form);
    for (let hop = 0; hop < 20; hop++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ') },
        ...(body && { method: 'POST', body }),
      });
      for (const cookie of response.headers.getSetCookie()) this.#keep(cookie);
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      await response.text();
      url = new URL(location, url);
      body = undefined;
      if (!isFollowed(url)) return { url, response };
    }
    throw new Error('too many redirects');
  }

  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '' || /max-age=0/i.test(cookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/**
 * Signs in with the provider's forms, starting from a page of the dashboard.
 * @returns the final URL of the browser.
 */
export async function signInAtProvider(
  browser: RedirectBrowser,
  start: string,
  { name, isFollowed }: { name: string; isFollowed?: (url: URL) => boolean },
): Promise<URL> {
  const options = isFollowed === undefined ? {} : { isFollowed };
  let { url, response } = await browser.open(start, options);
  for (const form of [{ prompt: 'login', login: name, password: 'any' }, { prompt: 'consent' }]) {
    if (!url.pathname.startsWith('/interaction/')) break;
    await response.text();
    ({ url, response } = await browser.open(url.href, { form, ...options }));
  }
  return url;
}
