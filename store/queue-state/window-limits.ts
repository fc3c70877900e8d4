import type { Config } from '../../platform/config.ts';

/** Default of REPLAY_WINDOW_HOURS: as old as a nightly backup gets. */
const defaultHours = 25;

/** Default bytes of a stream's window. After SIGKILL nats-server reads them within two seconds (ADR 31). */
const defaultBytesMax = 1024 ** 3;

export type WindowLimits = ReturnType<typeof readWindowLimits>;

/** The limits; with REPLAY_WINDOW_HOURS only half of the stream's bytes bounds the operator's hours. */
export function readWindowLimits({ REPLAY_WINDOW_HOURS: hours }: Pick<Config, 'REPLAY_WINDOW_HOURS'>) {
  return {
    windowMs: (hours ?? defaultHours) * 3_600_000,
    /** Most bytes of each stream. */
    bytesMax: hours === undefined ? defaultBytesMax : Number.POSITIVE_INFINITY,
  };
}
