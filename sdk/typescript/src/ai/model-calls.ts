import type { Recorder } from '../core/recorder.ts';
import { enterScope, type Scope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import type { EventError, EventInput, EventStatus, LlmProperties } from '../event/event.ts';
import { JsonText, jsonTextOf } from '../event/json-text.ts';
import { spellReason } from '../wire/finish-reason.ts';
import { asObject, asText, textOf, textsOf } from '../wire/read.ts';
import { composeUsage } from '../wire/usage.ts';
import type { ModelCallEnd, ModelCallStart } from './telemetry-events.ts';
import type { Traces } from './traces.ts';

interface OpenCall {
  start: ModelCallStart;
  input: NonNullable<LlmProperties['input']>;
  scope: Scope;
  startTimeMs: number;
  /** Attempts so far; the AI SDK itself retries a failed call. */
  attempts: number;
}

/** The AI SDK reports to telemetry that a stream had an error, but not which one. */
const streamError = { code: 'error', message: 'The provider reported an error in the stream.' };

/** The AI SDK's model calls in flight: at most one for each operation. */
export class ModelCalls {
  readonly #recorder: Recorder;
  readonly #traces: Traces;
  readonly #open = new Map<string, OpenCall>();

  constructor(recorder: Recorder, traces: Traces) {
    this.#recorder = recorder;
    this.#traces = traces;
  }

  start(start: ModelCallStart): void {
    if (!this.#recorder.isEnabled) return;
    this.#open.set(start.callId, {
      start,
      input: readInput(start),
      scope: this.#traces.scopeOf(start.callId),
      startTimeMs: start.timestamp ?? Date.now(),
      attempts: 0,
    });
  }

  /** Runs a call. If the HTTP client below is observed as well, it does not record the call a second time. */
  execute<T>({ callId, execute }: { callId: string; execute: () => PromiseLike<T> }): PromiseLike<T> {
    const call = this.#open.get(callId);
    if (call) call.attempts++;
    return this.#traces.run(callId, { isSilent: true }, execute);
  }

  end(event: ModelCallEnd): void {
    const toolCalls = event.content.flatMap(readToolCall);
    const response = textOf(event.content) ?? '';
    const error = event.finishReason === 'error' ? streamError : undefined;
    this.#finish(event, error, {
      // The model that answered, which may be another one than was requested.
      ...(event.modelId && { model: event.modelId }),
      output: {
        ...{ mode: toolCalls.length > 0 ? 'tool_calls' : 'text', response, toolCalls },
        finishReason: spellReason(event.finishReason),
      },
      usage: readUsage(event),
      ...(event.responseId && { responseId: event.responseId }),
      ...(event.performance?.timeToFirstOutputMs !== undefined && {
        timeToFirstChunkMs: event.performance.timeToFirstOutputMs,
      }),
    });
  }

  fail(event: unknown): void {
    const { callId, error, timestamp } = asObject(event);
    if (typeof callId !== 'string') return;
    this.#finish({ callId, timestamp: Number(timestamp ?? Date.now()) }, readError(error));
    this.#traces.close(callId);
  }

  abort({ callId }: { callId?: string }): void {
    if (callId === undefined) return;
    this.#finish({ callId }, { code: 'aborted', message: 'The caller aborted the operation.' });
    this.#traces.close(callId);
  }

  /** Call at the end of an operation: records a call that is still open as aborted. */
  close({ callId }: { callId?: string }): void {
    if (callId === undefined) return;
    this.abort({ callId });
  }

  /** Call before the process ends: records calls in flight with the data so far. */
  settle(): void {
    for (const callId of [...this.#open.keys()]) this.abort({ callId });
  }

  #finish(
    { callId, timestamp: endTimeMs = Date.now() }: Pick<ModelCallEnd, 'callId' | 'timestamp'>,
    error: EventError | undefined,
    outcome: Record<string, unknown> = {},
  ): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    this.#open.delete(callId);
    const status: EventStatus = error ? { state: 'error', error } : { state: 'ok' };
    const event = { ...composeEvent(call, outcome), status, endTimeMs };
    enterScope(call.scope, () => this.#recorder.record(event));
  }
}

function composeEvent(
  { start, input, startTimeMs, attempts }: OpenCall,
  outcome: Record<string, unknown>,
): EventInput {
  return {
    type: 'llm',
    startTimeMs,
    instrumentation: {
      source: start.provider.split('.')[0] ?? start.provider,
      sourcePackage: 'ai',
      sourceFunction: 'languageModelCall',
    },
    ...(start.functionId !== undefined && { additionalProperties: { functionId: start.functionId } }),
    properties: {
      llm: { model: start.modelId, input, ...outcome, ...(attempts > 1 && { retries: attempts - 1 }) },
    },
  };
}

/** Serializes the input at once, because the AI SDK changes the arrays later. */
function readInput({ instructions, messages, tools }: ModelCallStart): OpenCall['input'] {
  const system = [textOf(instructions), textOf(asObject(instructions).content)].find(
    (text) => text !== undefined,
  );
  const systems = [system ?? [], textsOf(instructions, ['system']), textsOf(messages, ['system'])].flat();
  const prompt = textsOf(messages, ['user']).at(-1);
  return {
    ...(systems.length > 0 && { system: systems.join('\n\n') }),
    ...(prompt !== undefined && { prompt }),
    // JsonText is serialized as the array that it contains.
    ...(tools && { tools: new JsonText(jsonTextOf(withoutBytes(tools)) ?? '[]') as never }),
    ...(messages && { messages: new JsonText(jsonTextOf(withoutBytes(messages)) ?? '[]') }),
  };
}

/** Replaces the bytes of images and files: as JSON each byte would take four. */
function withoutBytes(value: unknown): unknown {
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return { bytes: value.byteLength };
  if (Array.isArray(value)) return value.map(withoutBytes);
  const prototype = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : undefined;
  if (prototype !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(asObject(value)).map(([name, member]) => [name, withoutBytes(member)]),
  );
}

function readToolCall(part: unknown) {
  const { type, toolCallId, toolName, input } = asObject(part);
  if (type !== 'tool-call') return [];
  const text = typeof input === 'string' ? input : (jsonTextOf(input ?? {}) ?? '');
  return [{ id: asText(toolCallId), name: asText(toolName), arguments: text }];
}

function readUsage({ usage }: ModelCallEnd): unknown {
  return composeUsage({
    input: usage.inputTokens,
    cacheRead: usage.inputTokenDetails?.cacheReadTokens,
    cacheWrite: usage.inputTokenDetails?.cacheWriteTokens,
    output: usage.outputTokens,
    reasoning: usage.outputTokenDetails?.reasoningTokens,
    total: usage.totalTokens,
  });
}

/** After its last attempt the AI SDK throws a RetryError that wraps the provider's error. */
function readError(error: unknown): EventError {
  const { lastError, statusCode, data } = asObject(error);
  if (lastError !== undefined) return readError(lastError);
  const provider = asObject(asObject(data).error);
  const code = asText(provider.code) ?? asText(provider.type);
  return {
    ...describeError(error),
    ...(code !== undefined && { code }),
    ...(typeof statusCode === 'number' && { httpStatus: statusCode }),
  };
}
