import { ModelCalls } from './ai/model-calls.ts';
import type { AiTelemetry } from './ai/telemetry-events.ts';
import { ToolCalls } from './ai/tool-calls.ts';
import { Traces } from './ai/traces.ts';
import type { Recorder } from './core/recorder.ts';

export type { AiTelemetry };

/**
 * Records the model calls and tool executions of the AI SDK (`ai`, version 7):
 * `registerTelemetry(weirTelemetry(weir))`. The steps and tools of one `generateText` or `streamText` share a
 * trace. Totals of a whole generation are not recorded: they would count its calls twice.
 */
export function weirTelemetry(recorder: Recorder): AiTelemetry {
  const traces = new Traces();
  const models = new ModelCalls(recorder, traces);
  const tools = new ToolCalls(recorder, traces);
  recorder.onSettle((isEnd) => isEnd && models.settle());
  return {
    onLanguageModelCallStart: (event) => models.start(event),
    executeLanguageModelCall: (options) => models.execute(options),
    onLanguageModelCallEnd: (event) => models.end(event),
    onToolExecutionStart: (event) => tools.start(event),
    executeTool: (options) => tools.execute(options),
    onToolExecutionEnd: (event) => tools.end(event),
    onError: (event) => models.fail(event),
    onAbort: (event) => models.abort(event),
    onEnd: (event) => models.close(event),
  };
}
