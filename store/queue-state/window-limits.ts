import type { Config } from '../../platform/config.ts';

/** Without REPLAY_WINDOW_HOURS: as old as a nightly backup gets. */
const defaultHours = 25;

/**
 * Of a stream's window, by default. After SIGKILL a single nats-server reads them within two seconds (ADR
 * 31).
 */
const defaultBytesMax = 1024 ** 3;

export interface WindowLimits {
  readonly windowMs: number;
  /** Of each stream. */
  readonly bytesMax: number;
}

/** With REPLAY_WINDOW_HOURS only half of the stream's bytes bounds the operator's hours. */
export function readWindowLimits({
  REPLAY_WINDOW_HOURS: hours,
}: Pick<Config, 'REPLAY_WINDOW_HOURS'>): WindowLimits {
  return {
    windowMs: (hours ?? defaultHours) * 3_600_000,
    bytesMax: hours === undefined ? defaultBytesMax : Number.POSITIVE_INFINITY,
  };
}
