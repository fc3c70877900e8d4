/** RFC 5321. */
export const emailCharsMax = 254;

/** Hashing reads all of a password. */
export const passwordCharsMax = 1_024;

/** NIST SP 800-63B. */
export const passwordCharsMin = 8;

/** Short, because the link is opened right after `weir start` prints it. */
export const signInLinkTtlMs = 15 * 60 * 1_000;

/** 30 s each, by which an app's clock may differ, in each direction. More would be more guesses. */
export const totpSteps = 1;

export const recoveryCodesCount = 10;
