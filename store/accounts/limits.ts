/** RFC 5321. */
export const emailCharsMax = 254;

/** Hashing reads all of a password. */
export const passwordCharsMax = 1_024;

/** NIST SP 800-63B. */
export const passwordCharsMin = 8;

/** Validity of a sign-in link. Short, because it is opened right after `weir start` prints it. */
export const signInLinkTtlMs = 15 * 60 * 1_000;

/** Steps of 30 s by which an app's clock may differ, in each direction. More would be more guesses. */
export const totpSteps = 1;

export const recoveryCodesCount = 10;
