/** npm passes a terminal's Ctrl-C on, which we got from the terminal as well: within this time it is the same one. */
const sameRequestMs = 700;

export interface StopRequests {
  /** Aborted with a readable reason when we are to stop. */
  signal: AbortSignal;
  /** Resolves when we are to stop; with the reason. */
  requested: Promise<string>;
  /** Stops for a reason of our own. */
  request(reason: string): void;
}

/** Listens for the signals that end us. Whoever asks a second time is not ready to wait: then `onForce` is called. */
export function listenForStop(
  host: { on(signal: NodeJS.Signals, listener: () => void): unknown },
  onForce: () => void,
  now: () => number = Date.now,
): StopRequests {
  const stopping = new AbortController();
  const { promise: requested, resolve } = Promise.withResolvers<string>();
  let firstAt: number | undefined;
  const request = (reason: string) => {
    if (firstAt === undefined) {
      firstAt = now();
      stopping.abort(new StopRequested(reason));
      resolve(reason);
    } else if (now() - firstAt > sameRequestMs) {
      onForce();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) host.on(signal, () => request(signal));
  return { signal: stopping.signal, requested, request };
}

/** Ends a start that is still under way. It is no failure. */
export class StopRequested extends Error {
  override name = 'StopRequested';
}
