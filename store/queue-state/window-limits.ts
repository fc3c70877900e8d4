import type { Config } from '../../platform/config.ts';

/** Default of REPLAY_WINDOW_HOURS: as old as a nightly backup gets. */
const defaultHours = 25;

/** Default bytes of a stream's window. After SIGKILL nats-server reads them within two seconds (ADR 31). */
const defaultBytesMax = 1024 ** 3;

export interface WindowLimits {
  readonly windowMs: number;
  /** Most bytes of each stream. */
  readonly bytesMax: number;
}

/** The limits; with REPLAY_WINDOW_HOURS only half of the stream's bytes bounds the operator's hours. */
export function readWindowLimits({
  REPLAY_WINDOW_HOURS: hours,
}: Pick<Config, 'REPLAY_WINDOW_HOURS'>): WindowLimits {
  return {
    windowMs: (hours ?? defaultHours) * 3_600_000,
    bytesMax: hours === undefined ? defaultBytesMax : Number.POSITIVE_INFINITY,
  };
}
