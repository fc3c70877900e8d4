import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { WeirCallbackHandler } from './langchain/handler.ts';

export type { WeirCallbackHandler };

const handlers = new WeakMap<Recorder, WeirCallbackHandler>();

/**
 * LangChain's callback handler of a recorder: `chain.invoke(input, { callbacks: [weirCallbacks(weir)] })`. It
 * records models and tools; chains, agents and retrievers are the parents of what they run. A run that has
 * the handler twice is recorded once.
 */
export function weirCallbacks(recorder: Recorder): WeirCallbackHandler {
  const handler = handlers.get(recorder) ?? new WeirCallbackHandler(recorder);
  handlers.set(recorder, handler);
  return handler;
}

/** A list, or a `CallbackManager`. */
type Callbacks = unknown[] | { addHandler(handler: object, inherit?: boolean): void } | undefined;

/** The members that LangChain's models, tools and retrievers share. */
interface WithCallbacks {
  callbacks?: Callbacks;
  /** The options that `bindTools` and `withConfig` of some models make a copy from. */
  fields?: { callbacks?: Callbacks };
}

/**
 * Records the calls of a LangChain model, tool or retriever, wherever it is used. Changes it in place and
 * returns it.
 */
export function observeLangChain<T extends object>(recorder: Recorder, runnable: T): T {
  if (isObserved(runnable)) return runnable;
  const parts = runnable as WithCallbacks;
  const handler = weirCallbacks(recorder);
  parts.callbacks = addHandler(parts.callbacks, handler);
  if (typeof parts.fields === 'object') {
    parts.fields = { ...parts.fields, callbacks: addHandler(parts.fields.callbacks, handler) };
  }
  return markObserved(runnable);
}

function addHandler(callbacks: Callbacks, handler: WeirCallbackHandler): Callbacks {
  if (callbacks === undefined || Array.isArray(callbacks)) return [...(callbacks ?? []), handler];
  callbacks.addHandler(handler);
  return callbacks;
}
