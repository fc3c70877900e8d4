import { currentScope, enterScope, runInScope } from '../event/context.ts';
import { dropUndefined } from '../event/drop-undefined.ts';
import { describeError } from '../event/error-details.ts';
import type { EventInput } from '../event/event.ts';
import { createUuid } from '../event/uuid.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { asObject, asText, type Json } from '../wire/read.ts';
import { bindGenerator } from './span.ts';
import { observeResult, type ToolCall } from './tool-result.ts';

interface ToolRecorder {
  readonly isEnabled: boolean;
  record(input: EventInput): string;
}

interface ToolDependencies {
  recorder: ToolRecorder;
  runtime: Runtime;
}

/**
 * Wraps a tool so that each call is recorded: at its return, at the settlement of the promise that it
 * returns, or at the end of the generator. The wrapper returns what the tool returns. Events recorded inside
 * it have it as their parent.
 */
export function wrapTool<F extends (...args: never[]) => unknown>(
  dependencies: ToolDependencies,
  name: string,
  fn: F,
): F {
  const wrapped = function (this: unknown, ...args: never[]): unknown {
    if (!dependencies.recorder.isEnabled) return fn.apply(this, args);
    const call = startCall(dependencies, name, args);
    let result: unknown;
    try {
      result = runInScope({ parentEventId: call.id }, () => bindGenerator(fn.apply(this, args)));
    } catch (error) {
      call.fail(error);
      throw error;
    }
    return observeResult(result, call);
  };
  for (const name of ['name', 'length'] as const) {
    Object.defineProperty(wrapped, name, { value: fn[name], configurable: true });
  }
  return wrapped as F;
}

function startCall(
  { recorder, runtime }: ToolDependencies,
  name: string,
  args: readonly unknown[],
): ToolCall & { id: string } {
  const id = createUuid();
  // At the end of the call other code may be running.
  const scope = currentScope();
  const startTimeMs = runtime.wallMs();
  const startMs = runtime.nowMs();
  const { input, callId } = readArguments(args);
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
      properties: { tool: { name, ...(callId !== undefined && { callId }), input: snapshot, ...output } },
    };
    enterScope(scope, () => recorder.record(event));
  };
  return {
    id,
    end: (output, yielded) => finish({}, dropUndefined({ output, yielded })),
    fail: (error) => finish({ status: { state: 'error', error: describeError(error) } }, {}),
  };
}

/**
 * The frameworks that call a tool pass what they know about the call after its input: the whole conversation
 * (AI SDK), a runner (OpenAI's `runTools`), the configuration of the run (LangChain). Of these only the id of
 * the model's call is recorded.
 */
function readArguments(args: readonly unknown[]): { input: unknown; callId?: string | undefined } {
  const [input, ...others] = args;
  try {
    const abouts = others.map(asObject);
    const callId = abouts.map(callIdOf).find((id) => id !== undefined);
    if (callId !== undefined || abouts.some(isRun)) return { input, callId };
  } catch {
    // An argument of the application that cannot be read.
  }
  return { input: args.length === 1 ? input : args };
}

/** The id in the options of the AI SDK, LangChain, the OpenAI Agents SDK and Anthropic's tool runner. */
function callIdOf({ toolCallId, toolCall, toolUse, toolUseBlock }: Json): string | undefined {
  const { id, callId } = asObject(toolCall ?? toolUse ?? toolUseBlock);
  return asText(toolCallId) ?? asText(callId) ?? asText(id);
}

/** Whether an argument is a runner of OpenAI's, or a run manager or configuration of LangChain's. */
function isRun({ controller, handlers, callbacks }: Json): boolean {
  return asObject(controller).signal !== undefined || Array.isArray(handlers ?? asObject(callbacks).handlers);
}

function copyOf(input: unknown): unknown {
  try {
    return structuredClone(input);
  } catch {
    // Some values, such as functions, cannot be cloned: they are serialized at the end of the call.
    return input;
  }
}
