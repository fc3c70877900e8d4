import type { Config } from '../../platform/config.ts';

/**
 * Time that stored messages stay in the queue, unless REPLAY_WINDOW_HOURS says otherwise: as old as a nightly
 * backup gets.
 */
const defaultHours = 25;

/**
 * Most bytes of a stream's window by default. After SIGKILL a single nats-server reads all of them before it
 * accepts again: this is what it reads within two seconds (ADR 31).
 */
const defaultBytesMax = 1024 ** 3;

/** What the replay window keeps. */
export interface WindowLimits {
  readonly windowMs: number;
  /** Most bytes of each stream. */
  readonly bytesMax: number;
}

/**
 * With REPLAY_WINDOW_HOURS the operator has chosen the hours: then only half of the stream's bytes bounds
 * them.
 */
export function readWindowLimits({
  REPLAY_WINDOW_HOURS: hours,
}: Pick<Config, 'REPLAY_WINDOW_HOURS'>): WindowLimits {
  return {
    windowMs: (hours ?? defaultHours) * 3_600_000,
    bytesMax: hours === undefined ? defaultBytesMax : Number.POSITIVE_INFINITY,
  };
}
