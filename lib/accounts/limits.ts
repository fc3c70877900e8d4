/** Longest e-mail address (RFC 5321). */
export const emailCharsMax = 254;

/** Longest password: hashing reads all of it. */
export const passwordCharsMax = 1_024;

/** Shortest password that an operator may choose (NIST SP 800-63B). */
export const passwordCharsMin = 8;

/** Validity of a sign-in link. Short, because it is opened right after `npm start` prints it. */
export const signInLinkTtlMs = 15 * 60 * 1_000;
