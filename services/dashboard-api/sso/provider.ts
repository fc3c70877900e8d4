import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
} from 'openid-client';
import { oidcTimeoutMs } from '../limits.ts';

/** How Weir is known to an OpenID provider. */
export interface SsoSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The origin at which browsers reach the dashboard. */
  publicUrl: string;
}

/** The secrets of one sign-in. The browser keeps them in a cookie until it comes back. */
export interface SsoFlow {
  state: string;
  nonce: string;
  codeVerifier: string;
  /** The path to show after it. */
  to: string;
}

/** Who the provider says has signed in. */
export interface ProvenIdentity {
  issuer: string;
  subject: string;
  /** Undefined unless the provider says that it has verified the address. */
  verifiedEmail: string | undefined;
  /** When the person last authenticated there; undefined when the provider does not say. */
  authenticatedAt: Date | undefined;
}

/** An OpenID provider: authorization code flow with PKCE, state and nonce. */
export interface SsoProvider {
  /**
   * Where to send the browser.
   *
   * @param isAgain whether the provider has to ask the person again, also where it has a session of its own.
   */
  authorizationUrl(flow: SsoFlow, isAgain: boolean): Promise<string>;
  /**
   * Redeems the code with which the browser came back.
   *
   * @param query of the callback, as the provider wrote it.
   * @throws Error when it is not the answer to this flow, or the provider refuses it.
   */
  redeem(query: string, flow: SsoFlow): Promise<ProvenIdentity>;
}

export const callbackPath = '/auth/sso/callback';

/** The provider is asked for its configuration when it is first needed, and again after a failure. */
export function openSsoProvider(settings: SsoSettings): SsoProvider {
  const redirectUri = `${settings.publicUrl}${callbackPath}`;
  let configuration: Promise<Configuration> | undefined;
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
        // Some providers follow only one of them. With max_age, auth_time must be in the ID token (OpenID Connect Core §3.1.2.1).
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
      // Many providers put the address into the user info only.
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
  };
}

function discover({ issuer, clientId, clientSecret }: SsoSettings): Promise<Configuration> {
  // Clear text is for a provider on this machine: its keys come over it.
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(issuer).hostname);
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: oidcTimeoutMs / 1_000,
    ...(isLocal && { execute: [allowInsecureRequests] }),
  });
}
