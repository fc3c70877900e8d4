import type { Config } from '../../../platform/config.ts';
import type { Database } from '../../../store/db/database.ts';
import type { Services } from '../trpc/context.ts';
import { openTokenUsers } from './access-tokens.ts';
import { openIdentityUsers } from './identity-users.ts';
import { openSsoProvider } from './provider.ts';
import type { Sso } from './sso-routes.ts';

/** Opens single sign-on; undefined when no OpenID provider is configured. */
export function openSso(
  database: Database,
  config: Config,
  { sessions, tokenAttempts, findAddress }: Services,
): Sso | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, DASHBOARD_PUBLIC_URL } = config;
  // The configuration check guarantees that these are set together.
  if (!OIDC_ISSUER || !OIDC_CLIENT_ID || !OIDC_CLIENT_SECRET || !DASHBOARD_PUBLIC_URL) return undefined;
  const provider = openSsoProvider({
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    clientSecret: OIDC_CLIENT_SECRET,
    publicUrl: DASHBOARD_PUBLIC_URL,
  });
  return {
    issuer: OIDC_ISSUER,
    publicUrl: DASHBOARD_PUBLIC_URL,
    provider,
    findTokenUser: openTokenUsers(database, provider),
    findUser: openIdentityUsers(database, config.OIDC_ALLOWED_DOMAINS),
    sessions,
    attempts: tokenAttempts,
    findAddress,
  };
}
