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

/** Authorization code flow with PKCE, state and nonce; and access tokens issued to programs. */
export interface SsoProvider {
  /** @param isAgain whether the provider must authenticate the person again, even with a session. */
  authorizationUrl(flow: SsoFlow, isAgain: boolean): Promise<string>;
  /**
   * @param query of the callback, unchanged.
   * @throws Error when the code does not belong to this flow, or the provider rejects it.
   */
  redeem(query: string, flow: SsoFlow): Promise<ProvenIdentity>;
  /**
   * Verifies an access token that the provider issued to a program for `mcpResource` (RFC 8707, RFC 9068).
   * @returns undefined when it is no such token, is for another resource, or has expired.
   * @throws Error when the provider's keys cannot be loaded.
   */
  verify(token: string): Promise<Pick<ProvenIdentity, 'issuer' | 'subject'> | undefined>;
}

/** MCP at the dashboard's public address. */
export function mcpResource(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

export const callbackPath = '/auth/sso/callback';

/** The provider's configuration is loaded when first needed, and again after a failure. */
export function openSsoProvider(settings: SsoSettings): SsoProvider {
  const redirectUri = `${settings.publicUrl}${callbackPath}`;
  let configuration: Promise<Configuration> | undefined;
  let keys: JWTVerifyGetKey | undefined;
  const configure = () => {
    configuration ??= discover(settings).catch((error: unknown) => {
      configuration = undefined;
      throw error;
    });
    return configuration;
  };
  return {
    async authorizationUrl({ state, nonce, codeVerifier }, isAgain) {
      const url = buildAuthorizationUrl(await configure(), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        // Some providers support only one. max_age requires auth_time (OpenID Connect Core §3.1.2.1).
        ...(isAgain && { prompt: 'login', max_age: '0' }),
      });
      return url.href;
    },
    async redeem(query, { state, nonce, codeVerifier }) {
      const config = await configure();
      const tokens = await authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
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
    },
    async verify(token) {
      const { issuer, jwks_uri: keysUrl } = (await configure()).serverMetadata();
      if (keysUrl === undefined) return undefined;
      keys ??= createRemoteJWKSet(new URL(keysUrl), { timeoutDuration: oidcTimeoutMs });
      const expected = { issuer, audience: mcpResource(settings.publicUrl), requiredClaims: ['exp', 'sub'] };
      const verified = await jwtVerify(token, keys, expected).catch((error: unknown) => {
        if (error instanceof errors.JOSEError && !keyFailures.has(error.code)) return undefined;
        throw error;
      });
      const subject = verified?.payload.sub;
      return subject === undefined ? undefined : { issuer, subject };
    },
  };
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
