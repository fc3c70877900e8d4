import { JsonText, jsonTextOf } from '../event/json-text.ts';

/** A call of a tool. Only the first end or failure is recorded. */
export interface ToolCall {
  /** @param yielded the values of a generator that also returned one, which is the output. */
  end(output: unknown, yielded?: unknown): void;
  fail(error: unknown): void;
}

/** Records the end of a call by its result, which the application gets. A result that cannot be observed passes unchanged. */
export function observeResult(result: unknown, call: ToolCall): unknown {
  try {
    if (result instanceof Promise && result.constructor === Promise) return observePromise(result, call);
    if (isThenable(result)) observeThenable(result, call);
    else if (isGenerator(result)) observeGenerator(result, call);
    else call.end(result);
  } catch {
    call.end(result);
  }
  return result;
}

/** Returns a new promise, so that an unhandled rejection is still reported as unhandled. */
function observePromise(result: Promise<unknown>, call: ToolCall): Promise<unknown> {
  return result.then(
    (output) => {
      call.end(output);
      return output;
    },
    (error) => {
      call.fail(error);
      throw error;
    },
  );
}

interface Thenable {
  then(onFulfilled?: unknown, onRejected?: unknown): unknown;
}

function isThenable(value: unknown): value is Thenable {
  return typeof (value as Partial<Thenable> | null | undefined)?.then === 'function';
}

/** Observes the calls of `then` by the application. Calling `then` here would start a lazy promise, such as a query builder's. */
function observeThenable(result: Thenable, call: ToolCall): void {
  const then = result.then;
  const pass = (callback: unknown, value: unknown) =>
    typeof callback === 'function' ? callback(value) : value;
  // biome-ignore lint/suspicious/noThenProperty: it is a thenable already.
  result.then = function (onFulfilled, onRejected) {
    return then.call(
      this,
      (output: unknown) => {
        call.end(output);
        return pass(onFulfilled, output);
      },
      (error: unknown) => {
        call.fail(error);
        if (typeof onRejected === 'function') return onRejected(error);
        throw error;
      },
    );
  };
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

/** The output of a generator is the value that it returns. Without one, it is the list of the values that it yielded. */
function observeGenerator(generator: AnyGenerator, call: ToolCall): void {
  const yields = new Yields();
  const note = (step: unknown) => {
    const { done, value } = step as IteratorResult<unknown>;
    if (!done) yields.add(value);
    else if (value === undefined) call.end(yields.list());
    else call.end(value, yields.list());
    return step;
  };
  const fail = (error: unknown): never => {
    call.fail(error);
    throw error;
  };
  for (const name of ['next', 'throw'] as const) {
    const method = generator[name];
    if (method === undefined) continue;
    generator[name] = function (...args) {
      let step: unknown;
      try {
        step = method.apply(this, args);
      } catch (error) {
        return fail(error);
      }
      return isThenable(step) ? step.then(note, fail) : note(step);
    };
  }
  const end = generator.return;
  if (end === undefined) return;
  generator.return = function (...args) {
    call.end(yields.list());
    return end.apply(this, args);
  };
}

/** Most yielded values of a call, and most characters of them, that are kept: a stream of tokens has thousands. */
const yieldsMax = 1_000;
const yieldCharsMax = 1024 * 1024;

/** The values that a generator has yielded, as they were then. Within the bounds all of them, otherwise the first ones and the last. */
class Yields {
  readonly #texts: string[] = [];
  #chars = 0;
  #omitted = 0;
  #last: unknown;

  add(value: unknown): void {
    this.#last = value;
    const text = this.#omitted > 0 || this.#texts.length >= yieldsMax ? undefined : textOf(value);
    if (text === undefined || this.#chars + text.length > yieldCharsMax) {
      this.#omitted++;
      return;
    }
    this.#texts.push(text);
    this.#chars += text.length;
  }

  /** @returns undefined without values. `{ omitted }` stands for those that are not in the list. */
  list(): JsonText | undefined {
    if (this.#texts.length + this.#omitted === 0) return undefined;
    const omitted = this.#omitted - 1;
    const rest =
      this.#omitted === 0 ? [] : [...(omitted > 0 ? [`{"omitted":${omitted}}`] : []), textOf(this.#last)];
    return new JsonText(`[${[...this.#texts, ...rest].join(',')}]`);
  }
}

function textOf(value: unknown): string {
  try {
    return jsonTextOf(value) ?? 'null';
  } catch {
    return '"[Unserializable]"';
  }
}
