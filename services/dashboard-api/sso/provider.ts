import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
} from 'openid-client';

const oidcTimeoutMs = 5_000;

/** The registration of Weir at an OpenID provider. */
export interface SsoSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The dashboard's origin as browsers see it. */
  publicUrl: string;
}

/** The secrets of one sign-in. The browser keeps them in a cookie until the callback. */
export interface SsoFlow {
  state: string;
  nonce: string;
  codeVerifier: string;
  /** The path to show afterwards. */
  to: string;
}

/** The identity that the provider has authenticated. */
export interface ProvenIdentity {
  issuer: string;
  subject: string;
  /** Undefined unless the provider says that it has verified the address. */
  verifiedEmail: string | undefined;
  /** When the provider last authenticated the person; undefined when it does not say. */
  authenticatedAt: Date | undefined;
}

/** MCP at the dashboard's public address. */
export function mcpResource(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

export const callbackPath = '/auth/sso/callback';

/**
 * Authorization code flow with PKCE, state and nonce; and access tokens issued to programs. The provider's
 * configuration is loaded when first needed, and again after a failure.
 */
export class SsoProvider {
  readonly #settings: SsoSettings;
  readonly #redirectUri: string;
  #configuration: Promise<Configuration> | undefined;
  #keys: JWTVerifyGetKey | undefined;

  constructor(settings: SsoSettings) {
    this.#settings = settings;
    this.#redirectUri = `${settings.publicUrl}${callbackPath}`;
  }

  /** @param isAgain whether the provider must authenticate the person again, even with a session. */
  async authorizationUrl({ state, nonce, codeVerifier }: SsoFlow, isAgain: boolean): Promise<string> {
    const url = buildAuthorizationUrl(await this.#configure(), {
      redirect_uri: this.#redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      // Some providers support only one. max_age requires auth_time (OpenID Connect Core §3.1.2.1).
      ...(isAgain && { prompt: 'login', max_age: '0' }),
    });
    return url.href;
  }

  /**
   * @param query of the callback, unchanged.
   * @throws Error when the code does not belong to this flow, or the provider rejects it.
   */
  async redeem(query: string, { state, nonce, codeVerifier }: SsoFlow): Promise<ProvenIdentity> {
    const config = await this.#configure();
    const tokens = await authorizationCodeGrant(config, new URL(`${this.#redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    // Many providers only return the address from the userinfo endpoint.
    const { email, email_verified: isVerified } =
      claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined
        ? claims
        : await fetchUserInfo(config, tokens.access_token, claims.sub);
    return {
      issuer: claims.iss,
      subject: claims.sub,
      authenticatedAt: claims.auth_time === undefined ? undefined : new Date(claims.auth_time * 1_000),
      verifiedEmail: isVerified === true && typeof email === 'string' ? email : undefined,
    };
  }

  /**
   * Verifies an access token that the provider issued to a program for `mcpResource` (RFC 8707, RFC 9068).
   * @returns undefined when it is no such token, is for another resource, or has expired.
   * @throws Error when the provider's keys cannot be loaded.
   */
  async verify(token: string): Promise<Pick<ProvenIdentity, 'issuer' | 'subject'> | undefined> {
    const { issuer, jwks_uri: keysUrl } = (await this.#configure()).serverMetadata();
    if (keysUrl === undefined) return undefined;
    this.#keys ??= createRemoteJWKSet(new URL(keysUrl), { timeoutDuration: oidcTimeoutMs });
    const audience = mcpResource(this.#settings.publicUrl);
    const expected = { issuer, audience, requiredClaims: ['exp', 'sub'] };
    const verified = await jwtVerify(token, this.#keys, expected).catch((error: unknown) => {
      if (error instanceof errors.JOSEError && !keyFailures.has(error.code)) return undefined;
      throw error;
    });
    const subject = verified?.payload.sub;
    return subject === undefined ? undefined : { issuer, subject };
  }

  #configure(): Promise<Configuration> {
    this.#configuration ??= discover(this.#settings).catch((error: unknown) => {
      this.#configuration = undefined;
      throw error;
    });
    return this.#configuration;
  }
}

/** The codes of jose for keys that could not be loaded. All others are about the token. */
const keyFailures: ReadonlySet<string> = new Set([errors.JWKSTimeout.code, errors.JOSEError.code]);

function discover({ issuer, clientId, clientSecret }: SsoSettings): Promise<Configuration> {
  // Signing keys are loaded over plain HTTP only from a provider on this machine.
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(issuer).hostname);
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: oidcTimeoutMs / 1_000,
    ...(isLocal && { execute: [allowInsecureRequests] }),
  });
}
