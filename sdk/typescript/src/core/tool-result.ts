import { JsonText, jsonTextOf } from '../event/json-text.ts';

/** A call of a tool. Only the first end or failure is recorded. */
export interface ToolCall {
  /** @param yielded the values of a generator that also returned one, which is the output. */
  end(output: unknown, yielded?: unknown): void;
  fail(error: unknown): void;
}

/**
 * Records the end of a call by its result, which the application gets. A result that cannot be observed
 * passes unchanged.
 */
export function observeResult(result: unknown, call: ToolCall): unknown {
  try {
    // A new promise, so that an unhandled rejection is still reported as unhandled.
    if (result instanceof Promise && result.constructor === Promise) return result.then(...settling(call));
    if (isThenable(result)) observeThenable(result, call);
    else if (isGenerator(result)) observeGenerator(result, call);
    else call.end(result);
  } catch {
    call.end(result);
  }
  return result;
}

interface Thenable {
  then(onFulfilled?: unknown, onRejected?: unknown): unknown;
}

function isThenable(value: unknown): value is Thenable {
  return typeof (value as Partial<Thenable> | null | undefined)?.then === 'function';
}

/**
 * Observes the calls of `then` by the application. Calling `then` here would start a lazy promise, such as a
 * query builder's.
 */
function observeThenable(result: Thenable, call: ToolCall): void {
  const { then } = result;
  // biome-ignore lint/suspicious/noThenProperty: it is a thenable already.
  result.then = function (...callbacks) {
    return then.apply(this, settling(call, callbacks));
  };
}

type Callback = (value: unknown) => unknown;

/** The arguments of a `then` that record the outcome, and then call those of the application. */
function settling(call: ToolCall, [onEnd, onFail]: unknown[] = []): [Callback, Callback] {
  return [
    (output) => {
      call.end(output);
      return typeof onEnd === 'function' ? onEnd(output) : output;
    },
    (error) => {
      call.fail(error);
      if (typeof onFail === 'function') return onFail(error);
      throw error;
    },
  ];
}

/** A generator or an asynchronous one: `next` and `throw` return a step or the promise of one. */
interface AnyGenerator {
  next(...args: unknown[]): unknown;
  throw?(...args: unknown[]): unknown;
  return?(...args: unknown[]): unknown;
}

function isGenerator(value: unknown): value is AnyGenerator {
  const isObject = typeof value === 'object' && value !== null && 'next' in value;
  return isObject && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

/**
 * The output of a generator is the value that it returns. Without one, it is the list of the values that it
 * yielded.
 */
function observeGenerator(generator: AnyGenerator, call: ToolCall): void {
  const yields = new Yields();
  const note = (step: unknown) => {
    const { done, value } = step as IteratorResult<unknown>;
    if (!done) yields.add(value);
    else if (value === undefined) call.end(yields.list());
    else call.end(value, yields.list());
    return step;
  };
  const [, fail] = settling(call);
  for (const name of ['next', 'throw', 'return'] as const) {
    const method = generator[name];
    if (method === undefined) continue;
    generator[name] = function (...args) {
      if (name === 'return') call.end(yields.list());
      try {
        const step = method.apply(this, args);
        return isThenable(step) ? step.then(note, fail) : note(step);
      } catch (error) {
        return fail(error);
      }
    };
  }
}

/**
 * Most yielded values of a call, and most characters of them, that are kept: a stream of tokens has
 * thousands.
 */
const yieldsMax = 1_000;
const yieldCharsMax = 1024 * 1024;

/**
 * The values that a generator has yielded, as they were then. Within the bounds all of them, otherwise the
 * first ones and the last.
 */
class Yields {
  readonly #texts: string[] = [];
  #chars = 0;
  #omitted = 0;
  #last: unknown;

  add(value: unknown): void {
    this.#last = value;
    const text = this.#omitted > 0 || this.#texts.length === yieldsMax ? undefined : textOf(value);
    if (text === undefined || this.#chars + text.length > yieldCharsMax) {
      this.#omitted++;
    } else {
      this.#texts.push(text);
      this.#chars += text.length;
    }
  }

  /** @returns undefined without values. `{ omitted }` stands for those that are not in the list. */
  list(): JsonText | undefined {
    const texts = [...this.#texts];
    if (this.#omitted > 1) texts.push(`{"omitted":${this.#omitted - 1}}`);
    if (this.#omitted > 0) texts.push(textOf(this.#last));
    return texts.length > 0 ? new JsonText(`[${texts}]`) : undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return jsonTextOf(value) ?? 'null';
  } catch {
    return 'null';
  }
}
