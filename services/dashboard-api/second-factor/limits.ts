/** Time for the second step of a sign-in, and for the answer of a passkey: an app is found and a code is typed in less. */
export const secondStepTtlMs = 5 * 60 * 1_000;

/** Time to scan a QR code and type the first code of an app, or to create a passkey. */
export const enrolmentTtlMs = 15 * 60 * 1_000;

/** How long a browser waits for an authenticator. */
export const passkeyTimeoutMs = 120_000;

/** How long a used challenge is remembered. Longer than it is valid, also if clocks of several processes differ by hours. */
export const usedChallengeTtlMs = 24 * 60 * 60 * 1_000;

/**
 * Attempts at the second step per window, of one account from one network, and from all networks. Only somebody with the password
 * makes them, and three of a million codes are right at a time: 960 guesses a day.
 */
export const codeAttemptsMax = 5;
export const codeAccountAttemptsMax = 10;

/** Limit of an entered code, in characters. A recovery code has 19, and people add spaces. */
export const codeCharsMax = 60;

/** Passkeys of a user. The list shows all of them without pages. */
export const passkeysMax = 20;

/** Limit of a member of an authenticator's answer, in characters: keys and signatures of RSA have some hundreds. */
export const base64urlCharsMax = 8_192;
