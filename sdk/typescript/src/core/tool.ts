import { currentScope, enterScope, runInScope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import type { EventInput } from '../event/event.ts';
import { createUuid } from '../event/uuid.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { bindGenerator } from './span.ts';

interface ToolDependencies {
  readonly isEnabled: boolean;
  record(input: EventInput): string;
}

/**
 * Wraps a tool so that each call is recorded: at its return, at the settlement of the promise that it returns, or at
 * the end of the generator. The wrapper returns what the tool returns. Events recorded inside it have it as their parent.
 */
export function wrapTool<F extends (...args: never[]) => unknown>(
  recorder: ToolDependencies,
  runtime: Runtime,
  name: string,
  fn: F,
): F {
  const wrapped = function (this: unknown, ...args: never[]): unknown {
    if (!recorder.isEnabled) return fn.apply(this, args);
    const call = startCall(recorder, runtime, name, args.length === 1 ? args[0] : args);
    try {
      return observe(
        runInScope({ parentEventId: call.id }, () => bindGenerator(fn.apply(this, args))),
        call,
      );
    } catch (error) {
      call.fail(error);
      throw error;
    }
  };
  Object.defineProperty(wrapped, 'name', { value: fn.name, configurable: true });
  Object.defineProperty(wrapped, 'length', { value: fn.length, configurable: true });
  return wrapped as F;
}

interface Call {
  /** The id of its event. */
  readonly id: string;
  end(output: unknown): void;
  fail(error: unknown): void;
}

function startCall(recorder: ToolDependencies, runtime: Runtime, name: string, input: unknown): Call {
  const id = createUuid();
  // At the end of the call other code may be running.
  const scope = currentScope();
  const startTimeMs = runtime.wallMs();
  const startMs = runtime.nowMs();
  // Tools may change their arguments: record a copy of what was passed in.
  const snapshot = copyOf(input);
  let isOver = false;
  const finish = (outcome: Pick<EventInput, 'status'>, output: Record<string, unknown>) => {
    if (isOver) return;
    isOver = true;
    const event: EventInput = {
      id,
      type: 'tool',
      startTimeMs,
      durationMs: Math.round((runtime.nowMs() - startMs) * 1000) / 1000,
      ...outcome,
      instrumentation: { source: name, sourcePackage: '@weir/sdk', sourceFunction: name },
      properties: { tool: { name, input: snapshot, ...output } },
    };
    enterScope(scope, () => recorder.record(event));
  };
  return {
    id,
    end: (output) => finish({}, output === undefined ? {} : { output }),
    fail: (error) => finish({ status: { state: 'error', error: describeError(error) } }, {}),
  };
}

function copyOf(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    // Some values, such as functions, cannot be cloned: they are serialized at the end of the call.
    return input;
  }
}

function observe(result: unknown, call: Call): unknown {
  if (result instanceof Promise && result.constructor === Promise) {
    // Return a new promise, so that an unhandled rejection is still reported as unhandled.
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
  if (isThenable(result)) observeThenable(result, call);
  else if (isAsyncGenerator(result)) observeGenerator(result, call);
  else call.end(result);
  return result;
}

interface Thenable {
  then(onFulfilled?: unknown, onRejected?: unknown): unknown;
}

function isThenable(value: unknown): value is Thenable {
  return typeof (value as Partial<Thenable> | null | undefined)?.then === 'function';
}

/** Observes the calls of `then` by the application. Calling `then` here would start a lazy promise, such as a query builder's. */
function observeThenable(result: Thenable, call: Call): void {
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

function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

/** The output of a generator is its last yielded value, as in the AI SDK. */
function observeGenerator(generator: AsyncGenerator, call: Call): void {
  const { next, return: end } = generator;
  let lastYielded: unknown;
  generator.next = async function (...args) {
    try {
      const step = await next.apply(this, args);
      if (step.done) call.end(step.value ?? lastYielded);
      else lastYielded = step.value;
      return step;
    } catch (error) {
      call.fail(error);
      throw error;
    }
  };
  generator.return = function (value) {
    call.end(lastYielded);
    return end.call(this, value);
  };
}
