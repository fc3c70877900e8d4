/** Longest e-mail address (RFC 5321). */
export const emailCharsMax = 254;

/** Longest password: hashing reads all of it. */
export const passwordCharsMax = 1_024;

/** Shortest password that an operator may choose (NIST SP 800-63B). */
export const passwordCharsMin = 8;

/** A sign-in link can be used for this long: whoever started Weir opens it at once. */
export const signInLinkTtlMs = 15 * 60 * 1_000;
