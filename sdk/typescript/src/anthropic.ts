import { messages } from './adapters/messages.ts';
import type { Recorder } from './core/recorder.ts';
import { createMiddleware, type ObserverMiddleware } from './http/middleware.ts';
import { observeClient } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';

export type { ObserveOptions, ObserverMiddleware };

const adapters = [messages];

/** A middleware that records calls, for `new Anthropic({ middleware: [ … ] })` from version 0.101 on. */
export function anthropicMiddleware(recorder: Recorder, options: ObserveOptions = {}): ObserverMiddleware {
  return createMiddleware(new Observer({ ...options, recorder, adapters }));
}

/** A fetch that records calls, for clients of any version. */
export function anthropicFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/** Records the calls of an `@anthropic-ai/sdk` client. Changes the client in place and returns it. */
export function observeAnthropic<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  return observeClient(new Observer({ ...options, recorder, adapters }), client);
}
