/** Time limits of a sign-in at the OpenID provider, and of each request to the provider. */
export const ssoFlowTtlMs = 10 * 60 * 1_000;
export const oidcTimeoutMs = 5_000;

/** Limit of the path shown after single sign-on, in characters: a cookie stores it. */
export const returnPathCharsMax = 1_000;
