import { setTimeout as sleep } from 'node:timers/promises';
import { startLoop } from '../../platform/background-loop.ts';
import type { Logger } from '../../platform/log.ts';
import type { Database } from '../../store/db/database.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { unresolvedPollMs } from './limits.ts';

/**
 * Resolves traces in the background: storing never waits for it.
 * @param onResolved called with a space whose events may have changed.
 * @returns `wake` starts at once, because traces have become unresolved.
 */
export function startTraceResolution(
  database: Database,
  log: Logger,
  onResolved: (spaceId: string) => void,
): { wake: () => void } & AsyncDisposable {
  let woken = Promise.withResolvers<void>();
  const resolver = new TraceResolver(database, {
    onResolved,
    onError: (error, trace) =>
      log.error({ err: error, ...trace }, 'a trace was not resolved; trying again later'),
  });
  const run = async (signal: AbortSignal) => {
    woken = Promise.withResolvers();
    await resolver.run(signal);
    const waiting = new AbortController();
    const options = { signal: waiting.signal, ref: false };
    await Promise.race([woken.promise, sleep(unresolvedPollMs, undefined, options).catch(() => {})]);
    waiting.abort();
  };
  const failure = 'traces were not resolved; trying again later';
  const wake = () => woken.resolve();
  const loop = startLoop({ run, intervalMs: 0, retryMs: unresolvedPollMs, failure, interrupt: wake }, log);
  return { wake, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}
