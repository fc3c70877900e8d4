/** npm forwards a Ctrl-C that the terminal also sends: a second signal within this time is a duplicate. */
const duplicateMs = 700;

export type StopRequests = ReturnType<typeof listenForStopSignals>;

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. Calls `onForce` on a second signal.
 * @returns `signal` is aborted with a readable reason when the process must stop.
 */
export function listenForStopSignals(
  host: { on(signal: NodeJS.Signals, listener: () => void): unknown },
  onForce: () => void,
  now: () => number = Date.now,
) {
  const stopping = new AbortController();
  const { promise: requested, resolve } = Promise.withResolvers<string>();
  let firstAt: number | undefined;
  const request = (reason: string) => {
    if (firstAt === undefined) {
      firstAt = now();
      stopping.abort(new StopRequestedError(reason));
      resolve(reason);
    } else if (now() - firstAt > duplicateMs) {
      onForce();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(signal, () => request(signal));
  return { signal: stopping.signal, requested, request };
}

/** Aborts a start that is in progress. It is not a failure. */
class StopRequestedError extends Error {
  override name = 'StopRequestedError';
}
