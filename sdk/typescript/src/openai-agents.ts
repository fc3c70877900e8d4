import type { Recorder } from './core/recorder.ts';
import { addLevel, createLevel } from './core/span.ts';
import { extendScopes, type Scope } from './event/context.ts';
import type { EventError } from './event/event.ts';
import { JsonText } from './event/json-text.ts';
import { createUuid } from './event/uuid.ts';
import { readModelCall } from './frameworks/agents-model-call.ts';
import { type Run, Runs } from './frameworks/runs.ts';
import { composeLlm } from './wire/llm.ts';
import { asObject, asText, type Json } from './wire/read.ts';

export type { AgentsTraceProcessor };

export interface TraceProcessorOptions {
  /**
   * `getCurrentSpan` of `@openai/agents`. With it, what else is recorded inside a tool has the tool as its
   * parent, and an observed client does not record the calls of the agents' models a second time.
   */
  getCurrentSpan?: () => { readonly spanId: string } | null;
}

/** The id that the span's event gets if the span is a tool call. */
type SpanRun = { eventId: string };

/**
 * Records the model calls and tool calls of the OpenAI Agents SDK:
 * `addTraceProcessor(weirTraceProcessor(weir, { getCurrentSpan }))`. Agents, guardrails and custom spans are
 * the parents of what they run; an agent's name is the `agentId`, and a trace's group the `threadId`.
 */
export function weirTraceProcessor(
  recorder: Recorder,
  { getCurrentSpan }: TraceProcessorOptions = {},
): AgentsTraceProcessor {
  const runs = new Runs<SpanRun>(() => {});
  const traces = new Map<string, AgentsTrace>();
  if (getCurrentSpan) {
    extendScopes((known) => {
      const { inner } = runs.get(getCurrentSpan()?.spanId) ?? {};
      return inner && inner.runId !== known?.runId ? inner : known;
    });
  }
  return {
    async onTraceStart(trace) {
      traces.set(trace.traceId, trace);
    },
    async onTraceEnd({ traceId }) {
      traces.delete(traceId);
    },
    async onSpanStart(span) {
      if (recorder.isEnabled) openSpan(runs, traces.get(span.traceId), span);
    },
    async onSpanEnd(span) {
      runs.close(span.spanId, (run) => recordSpan(recorder, span, run));
    },
    async shutdown() {
      await recorder.flush();
    },
    async forceFlush() {
      await recorder.flush();
    },
  };
}

function openSpan(runs: Runs<SpanRun>, trace: AgentsTrace | undefined, span: AgentsSpan): void {
  const { spanId: id, parentId, traceId } = span;
  const data = { eventId: createUuid() };
  runs.open({ id, parentId: parentId ?? undefined, traceId: uuidOf(traceId) }, data, {
    enter: (outer) => enterSpan(outer, asObject(span.spanData), data.eventId),
    describe: (scope) => (trace?.groupId ? { ...scope, threadId: trace.groupId } : scope),
  });
}

function enterSpan(scope: Scope, { type, name }: Json, eventId: string): Scope {
  const title = asText(name) ?? String(type);
  switch (type) {
    case 'function':
      return { ...scope, parentEventId: eventId };
    case 'response':
    case 'generation':
      // Recorded here: an observed client below stays silent.
      return { ...scope, isSilent: true };
    case 'agent':
      return { ...addLevel(scope, createLevel(title)), agentId: title };
    case 'guardrail':
    case 'custom':
      return addLevel(scope, createLevel(title));
    default:
      return scope;
  }
}

function recordSpan(recorder: Recorder, span: AgentsSpan, run: Run<SpanRun>): void {
  const data = asObject(span.spanData);
  const error = span.error ? describe(span.error) : undefined;
  const common = {
    startTimeMs: run.startTimeMs,
    endTimeMs: Date.now(),
    status: error ? ({ state: 'error', error } as const) : ({ state: 'ok' } as const),
  };
  if (data.type === 'function') {
    const name = asText(data.name) ?? 'function';
    recorder.record({
      ...common,
      id: run.data.eventId,
      type: 'tool',
      instrumentation: { source: name, sourcePackage: '@openai/agents', sourceFunction: 'function' },
      properties: {
        tool: { name, input: asJson(data.input), ...(!error && { output: asJson(data.output) }) },
      },
    });
  }
  if (data.type !== 'response' && data.type !== 'generation') return;
  const { sourceFunction, request, answer } = readModelCall(data);
  recorder.record({
    ...common,
    type: 'llm',
    instrumentation: { source: 'openai', sourcePackage: '@openai/agents', sourceFunction },
    properties: { llm: composeLlm(request, answer, {}) },
  });
}

/** The Agents SDK puts the message of the thrown error into the data. */
function describe({ message, data }: { message: string; data?: Record<string, unknown> }): EventError {
  const cause = asText(data?.error);
  return { message: cause === undefined ? message : `${message}: ${cause}` };
}

/** Arguments and results are texts, most often JSON. */
function asJson(text: unknown): unknown {
  try {
    if (typeof text === 'string' && typeof JSON.parse(text) === 'object') return new JsonText(text);
  } catch {
    // Text that is not JSON.
  }
  return text;
}

/** A UUIDv4 from `trace_` and 32 digits: the same for all processes of a trace. */
function uuidOf(traceId: string): string | undefined {
  const digits = /[\da-f]{32}$/.exec(traceId)?.[0];
  if (digits === undefined) return undefined;
  const variant = ((Number.parseInt(digits[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${digits}`.replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/,
    (_, a, b, c, d, e) => `${a}-${b}-4${c}-${variant}${d}-${e}`,
  );
}

/** The parts of `@openai/agents`' types that are used; the names are those of version 0.20. */
interface AgentsTrace {
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | null;
}

interface AgentsSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly spanData: unknown;
  readonly error: { message: string; data?: Record<string, unknown> } | null;
}

/** Assignable to `TracingProcessor`. */
interface AgentsTraceProcessor {
  onTraceStart(trace: AgentsTrace): Promise<void>;
  onTraceEnd(trace: AgentsTrace): Promise<void>;
  onSpanStart(span: AgentsSpan): Promise<void>;
  onSpanEnd(span: AgentsSpan): Promise<void>;
  shutdown(timeout?: number): Promise<void>;
  forceFlush(): Promise<void>;
}
