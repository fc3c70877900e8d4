import type { FairLimits } from '../../../platform/fair-limiter.ts';

export const sessionTtlMs = 30 * 24 * 60 * 60 * 1_000;

/** A working day. Then the provider is asked again whether its user still has an account. */
export const ssoSessionTtlMs = 12 * 60 * 60 * 1_000;

/** The browser of an unused session may have changed hands. */
export const sessionIdleMs = 7 * 24 * 60 * 60 * 1_000;

/** Age of an authentication that may widen access: an unlocked browser or stolen cookie is not enough. */
export const confirmationTtlMs = 15 * 60 * 1_000;

/** Minimum interval between writes of a session's last use: a write for each call would cost too much. */
export const sessionUseMs = 60_000;

/** Refusal of an unknown read key without a query: below the second within which a new key must work. */
export const unknownReadKeyMs = 500;
export const unknownReadKeysMax = 10_000;

/**
 * Concurrent look-ups of read keys never valid before, which anybody can invent: of `accountConnectionsMax`.
 */
export const unknownReadKeyLookupsMax = 2;

/** Read keys that were valid and are looked up without waiting. */
export const knownReadKeysMax = 10_000;

/** Sessions per user. When another one is opened, the least recently used one ends. */
export const sessionsMax = 100;

/** Limit of the stored User-Agent, in characters. Clients choose it. */
export const userAgentCharsMax = 300;

/** Sign-in attempts with one e-mail address from one network per window; then 429. */
export const signInAttemptsMax = 10;
export const signInWindowMs = 15 * 60 * 1_000;

/** Attempts with one e-mail address per window, from all networks: 4,800 guesses a day. */
export const signInAccountAttemptsMax = 50;

/**
 * Failed attempts of a wider network: above an office's typing errors, far below a leaked list's passwords.
 */
export const signInNetworkAttemptsMax = 100;

/** Wrong link tokens from one network address: bounds the cost, since 256 bits cannot be guessed. */
export const tokenAttemptsMax = 30;

/** E-mail addresses, networks, and pairs of both; the one with the fewest attempts is dropped first. */
export const signInKeysMax = 10_000;

/**
 * Password verifications: in total, of one wider network, and queued ones of it. Each takes 9 MiB and 25 ms
 * of CPU without authentication: one network must not delay the sign-ins of others.
 */
export const signInHashLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 4, waitingOfUserMax: 16 };

export const invitationTtlHoursDefault = 7 * 24;
export const invitationTtlHoursMax = 30 * 24;

/** Open invitations of a space. The list shows all of them without pages. */
export const openInvitationsMax = 500;

/** Concurrent password changes. Each takes two hashes, as expensive as that of a sign-in. */
export const passwordChangesAtOnceMax = 2;
