import type { Recorder } from '../core/recorder.ts';
import { describeError } from '../event/error-details.ts';
import { JsonText, jsonTextOf } from '../event/json-text.ts';
import { createUuid } from '../event/uuid.ts';
import type { AiTelemetry, ToolExecution, ToolOutput } from './telemetry-events.ts';
import type { Traces } from './traces.ts';

/** Most executions in flight whose start is kept. */
const openMax = 10_000;

/** The tool executions of the AI SDK. */
export class ToolCalls {
  readonly #recorder: Recorder;
  readonly #traces: Traces;
  readonly #open = new Map<string, { id: string; startTimeMs: number; input: unknown }>();

  constructor(recorder: Recorder, traces: Traces) {
    this.#recorder = recorder;
    this.#traces = traces;
  }

  start({ toolCall, timestamp }: ToolExecution): void {
    if (!this.#recorder.isEnabled) return;
    const input = new JsonText(jsonTextOf(toolCall.input ?? null) ?? 'null');
    this.#open.set(toolCall.toolCallId, { id: createUuid(), startTimeMs: timestamp ?? Date.now(), input });
    const [oldest] = this.#open.keys();
    if (this.#open.size > openMax && oldest !== undefined) this.#open.delete(oldest);
  }

  /** Runs a tool: model calls inside it are recorded, with the tool as their parent. */
  execute<T>({
    callId,
    toolCallId,
    execute,
  }: Parameters<AiTelemetry['executeTool']>[0] & { execute: () => PromiseLike<T> }) {
    const id = this.#open.get(toolCallId)?.id;
    return this.#traces.run(callId, { isSilent: false, ...(id && { parentEventId: id }) }, execute);
  }

  end(event: ToolExecution & { toolOutput: ToolOutput; toolExecutionMs: number }): void {
    const { toolCall, toolOutput, toolExecutionMs, callId, functionId } = event;
    const nowMs = event.timestamp ?? Date.now();
    const open = this.#open.get(toolCall.toolCallId);
    this.#open.delete(toolCall.toolCallId);
    const isError = toolOutput.type === 'tool-error';
    this.#traces.run(callId, {}, () =>
      this.#recorder.record({
        ...(open && { id: open.id }),
        type: 'tool',
        startTimeMs: open?.startTimeMs ?? nowMs - toolExecutionMs,
        durationMs: toolExecutionMs,
        status: isError ? { state: 'error', error: describeError(toolOutput.error) } : { state: 'ok' },
        instrumentation: { source: toolCall.toolName, sourcePackage: 'ai', sourceFunction: 'executeTool' },
        ...(functionId !== undefined && { additionalProperties: { functionId } }),
        properties: {
          tool: {
            name: toolCall.toolName,
            callId: toolCall.toolCallId,
            input: open?.input ?? toolCall.input,
            ...(!isError && { output: toolOutput.output }),
          },
        },
      }),
    );
  }
}
