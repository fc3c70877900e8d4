import type { ObservedCall } from '../../../../store/traces/merge/same-calls.ts';
import type { SpanNode } from '../../../../store/traces/span-tree.ts';
import type { Json } from '../../read/protobuf-struct.ts';
import { AttributeReader } from '../mapping/attribute-reader.ts';
import { readRawResponse } from '../mapping/messages/raw-response.ts';
import { statusError, toMs } from '../mapping/span-to-event.ts';
import { type Convention, llmRows } from '../mapping/table.ts';
import { usageRows } from '../mapping/usage/usage-rows.ts';
import { textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';
import { observedFromMs, streamKeyOf } from './stream-log.ts';

/** The span that a call's event has its ids and times of, and those that describe the same call. */
export interface Call<Node extends SpanNode = SpanNode> {
  /** The innermost LLM span; of a tool call the outermost span, which is the agent's. */
  readonly innermost: Node;
  /** The LLM spans above it, from the nearest to the outermost; the tool spans below it. */
  readonly outer: readonly Node[];
}

/** The properties by which two LLM spans are recognised as one call. */
export interface CallTraits {
  readonly scope: string;
  readonly model: string | undefined;
  /** The model as it was requested, which a span without the response has alone. */
  readonly requestedModel: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The provider's id of the response. */
  readonly responseId: string | undefined;
  /** Identifies the request of a call that was recorded as two spans. */
  readonly streamKey: string | undefined;
  readonly isFailed: boolean;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
}

/** @param by the convention that identified the span as an LLM span. */
export function readCallTraits(span: Span, by: Convention, scope: string): CallTraits {
  const reader = new AttributeReader(span.attributes, by);
  return {
    scope,
    model: reader.text(llmRows.model),
    requestedModel: textOf(span.attributes, 'gen_ai.request.model'),
    inputTokens: reader.number(usageRows.input),
    outputTokens: reader.number(usageRows.output),
    responseId: reader.text(llmRows.responseId) ?? readRawResponse(reader.get('output.value')).id,
    streamKey: streamKeyOf(span),
    isFailed: span.status.code === statusError || textOf(span.attributes, 'error.type') !== undefined,
    startTimeMs: observedFromMs(span, toMs(span.startNs)),
    endTimeMs: toMs(span.endNs),
  };
}

/** The traits of a call: each is that of the first span that has it; the times are those of the innermost span. */
export function describeCall<Node extends SpanNode>(
  call: Call<Node>,
  traitsOf: (node: Node) => CallTraits,
): ObservedCall & { readonly call: Call<Node> } {
  const all = [call.innermost, ...call.outer].map(traitsOf);
  const first = <K extends keyof CallTraits>(name: K) =>
    all.find((traits) => traits[name] !== undefined)?.[name];
  const { startTimeMs, endTimeMs } = traitsOf(call.innermost);
  const { traceId, parentSpanId } = call.outer.at(-1) ?? call.innermost;
  const usage = [first('inputTokens'), first('outputTokens')];
  // A refused call has neither usage nor a response.
  const models = new Set([first('model'), first('requestedModel') ?? first('model')].map(bareModel));
  const isRefused = all.every(({ isFailed }) => isFailed) && usage.every((count) => count === undefined);
  return {
    call,
    scopes: all.map(({ scope }) => scope),
    responseKey: first('responseId'),
    siblingKeys: [
      ...(usage.includes(undefined) ? [] : [...models].map((model) => [model, ...usage])),
      ...(isRefused && first('model') !== undefined ? [['refused', bareModel(first('model'))]] : []),
      ...all.flatMap(({ streamKey }) => (streamKey === undefined ? [] : [[streamKey]])),
    ].map((key) => JSON.stringify([traceId, parentSpanId, ...key])),
    startTimeMs,
    endTimeMs,
    durationMs: endTimeMs - startTimeMs,
    spanId: call.innermost.spanId,
    isRoot: parentSpanId === '',
  };
}

/** Some libraries prefix the model by its provider: `openai/gpt-x`. */
export function bareModel(model: Json | undefined): Json | undefined {
  return typeof model === 'string' ? model.slice(model.lastIndexOf('/') + 1) : model;
}
