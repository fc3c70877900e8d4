import type { FairLimits } from '../../../platform/fair-limiter.ts';

/** Lifetime of a session. */
export const sessionTtlMs = 30 * 24 * 60 * 60 * 1_000;

/** Lifetime of a single sign-on session: a working day. Then the provider is asked again whether its user still has an account. */
export const ssoSessionTtlMs = 12 * 60 * 60 * 1_000;

/** A session unused for a week ends, because its browser may have changed hands. */
export const sessionIdleMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * Changes that widen access require a session that authenticated at most this long ago: an unlocked browser or a stolen cookie is not
 * enough to create an API key or grant a role. Long enough to set up a space with a single authentication.
 */
export const confirmationTtlMs = 15 * 60 * 1_000;

/** Minimum interval between writes of a session's last use: a write for each call would cost too much. */
export const sessionUseMs = 60_000;

/**
 * How long an unknown read key is refused without a query, and how many are remembered. Shorter than the second within which a new
 * key must work, because it may have been tried before it was created.
 */
export const unknownReadKeyMs = 500;
export const unknownReadKeysMax = 10_000;

/** Concurrent look-ups of read keys that were not valid before, of `accountConnectionsMax` connections: anybody can invent keys. */
export const unknownReadKeyLookupsMax = 2;

/** Read keys that were valid and are looked up without waiting. */
export const knownReadKeysMax = 10_000;

/** Sessions per user. When another one is opened, the least recently used one ends. */
export const sessionsMax = 100;

/** Limit of the stored User-Agent, in characters. Clients choose it. */
export const userAgentCharsMax = 300;

/** Sign-in attempts with one e-mail address from one network per window; further ones are answered with 429. */
export const signInAttemptsMax = 10;
export const signInWindowMs = 15 * 60 * 1_000;

/** Attempts with one e-mail address from all networks per window: 4,800 guesses a day, however many networks an attacker has. */
export const signInAccountAttemptsMax = 50;

/** Failed attempts from one wider network per window: more than the typing errors of an office, far fewer than a list of leaked passwords. */
export const signInNetworkAttemptsMax = 100;

/** Wrong link tokens from one network address per window. A 256-bit token cannot be guessed; this bounds the cost of attempts. */
export const tokenAttemptsMax = 30;

/** Limit of e-mail addresses, networks, and pairs of both whose attempts are counted; the one with the fewest is dropped first. */
export const signInKeysMax = 10_000;

/**
 * Concurrent password verifications: in total, of one wider network, and queued ones of it. Each takes 9 MiB and 25 ms of CPU and
 * needs no authentication; a network that sends thousands does not delay the sign-ins of others.
 */
export const signInHashLimits: FairLimits = { atOnceMax: 8, atOnceOfSpaceMax: 4, waitingOfUserMax: 16 };

/** Lifetime of an invitation: default and maximum. */
export const invitationTtlHoursDefault = 7 * 24;
export const invitationTtlHoursMax = 30 * 24;

/** Open invitations of a space. The list shows all of them without pages. */
export const openInvitationsMax = 500;

/** Concurrent password changes. Each takes two hashes, as expensive as that of a sign-in. */
export const passwordChangesAtOnceMax = 2;
