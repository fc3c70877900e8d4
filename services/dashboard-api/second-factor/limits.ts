/** Time for a code, or for the answer of a passkey. Finding an app and typing a code takes less. */
export const secondStepTtlMs = 5 * 60 * 1_000;

/** Time to scan a QR code and type the first code of an app, or to create a passkey. */
export const enrolmentTtlMs = 15 * 60 * 1_000;

export const passkeyTimeoutMs = 120_000;

/** How long a used challenge is remembered: beyond its validity, also with clocks that differ by hours. */
export const usedChallengeTtlMs = 24 * 60 * 60 * 1_000;

/** Codes from one network, and from all: three of a million are right, and 960 a day can be guessed. */
export const codeAttemptsMax = 5;
export const codeAccountAttemptsMax = 10;

/** Limit of an entered code, in characters. A recovery code has 19, and people add spaces. */
export const codeCharsMax = 60;

/** Passkeys of a user. The list shows all of them without pages. */
export const passkeysMax = 20;

/** Characters of an authenticator's answer: keys and signatures of RSA have some hundreds. */
export const base64urlCharsMax = 8_192;
