/** Longest e-mail address (RFC 5321). */
export const emailCharsMax = 254;

/** Longest password: hashing reads all of it. */
export const passwordCharsMax = 1_024;

/** Shortest password that an operator may choose (NIST SP 800-63B). */
export const passwordCharsMin = 8;

/** Validity of a sign-in link. Short, because it is opened right after `weir start` prints it. */
export const signInLinkTtlMs = 15 * 60 * 1_000;

/**
 * Time steps by which the clock of an authenticator app may differ, in each direction: 30 s each. More would
 * be more guesses.
 */
export const totpSteps = 1;

/** Recovery codes of a user. */
export const recoveryCodesCount = 10;
