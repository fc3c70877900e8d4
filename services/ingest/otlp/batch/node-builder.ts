import type { Json, JsonObject } from '../../../../event/json/json-value.ts';
import { logMessagesName } from '../../../../store/traces/merge/log-messages.ts';
import {
  isSpanId,
  type NodeKind,
  type SpanContext,
  type SpanNode,
} from '../../../../store/traces/span-tree.ts';
import type { SentNode } from '../../../../store/traces/trace-node.ts';
import { observedFromMs, streamKeyOf } from '../calls/stream-log.ts';
import { hashOf, isTraceId, traceUuidOf } from '../mapping/ids.ts';
import { membersOf } from '../mapping/json-object.ts';
import { statusError, toMs } from '../mapping/span-to-event.ts';
import { textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';

/** Spans of databases have no calls below them, and there are many. */
const databaseAttributes = ['db.system', 'db.system.name'];

/** Nodes that store no name: their event has it, or, for links, nobody reads it. */
const unnamedKinds: ReadonlySet<NodeKind> = new Set(['llm', 'tool', 'link', 'log']);

/** Key of log records with messages of the call above: other requests may have more of them. */
const messagesKey = hashOf(['messages']);

/**
 * Makes the nodes of a request's traces (store/traces): they connect its events with those of other requests.
 */
export class NodeBuilder {
  readonly #nodes = new Map<SpanNode, SentNode>();

  add(node: SpanNode, span: Span): void {
    const { traceId, spanId, parentSpanId, kind } = node;
    const isUnneeded =
      kind === 'link' && databaseAttributes.some((name) => span.attributes.get(name) !== undefined);
    if (isUnneeded || span.endNs === 0n || !isTraceId(traceId) || !isSpanId(spanId)) return;
    this.#nodes.set(node, {
      traceId: traceUuidOf(traceId),
      spanId,
      parentSpanId: isSpanId(parentSpanId) ? parentSpanId : null,
      kind,
      name: unnamedKinds.has(kind) ? null : span.name,
      state: span.status.code === statusError ? 'error' : 'ok',
      startTimeMs: observedFromMs(span, toMs(span.startNs)),
      endTimeMs: toMs(span.endNs),
      ...(kind === 'tool' && { scope: node.scope, usageKey: node.usageKey, responseKey: node.responseKey }),
      ...(kind === 'llm' && { usageKey: streamKeyOf(span) }),
      ...(kind === 'log' && span.name === logMessagesName && { usageKey: messagesKey }),
    });
  }

  /**
   * Notes the event of a span, and the properties by which spans of several libraries are recognised as one
   * call.
   */
  setEvent(
    node: SpanNode & { readonly scope: string },
    { attributes }: Span,
    { event, isSurplus }: { event: JsonObject; isSurplus: boolean },
  ): void {
    const found = this.#nodes.get(node);
    if (found === undefined) return;
    Object.assign(found, { eventId: event.id, isSurplus });
    if (found.kind !== 'llm') return;
    const { model, responseId, usage } = membersOf(membersOf(event.properties).llm);
    const { inputTokens: input, outputTokens: output } = membersOf(usage);
    const isFailed = membersOf(event.status).state === 'error';
    const keyOf = (name: Json | undefined) => usageKeyOf({ model: name, input, output, isFailed });
    const usageKey = keyOf(model);
    const requestKey = keyOf(textOf(attributes, 'gen_ai.request.model'));
    Object.assign(found, {
      scope: node.scope,
      responseKey: responseId === undefined ? undefined : hashOf(['response', responseId]),
      usageKey: found.usageKey ?? usageKey,
      // A span without the response names the model that was requested.
      requestKey: requestKey === usageKey ? undefined : requestKey,
    });
  }

  /** @param contextOf the agent, thread and user of a span, as far as the request tells. */
  finish(contextOf: (node: SpanNode) => SpanContext): SentNode[] {
    return Array.from(this.#nodes, ([node, made]) => ({ ...made, ...contextOf(node) }));
  }
}

/** Equal for spans of one call. A refused call has no usage. */
function usageKeyOf(call: {
  model: Json | undefined;
  input: Json | undefined;
  output: Json | undefined;
  isFailed: boolean;
}): string | undefined {
  const { input, output, isFailed } = call;
  const model = bareModel(call.model);
  if (input !== undefined && output !== undefined) return hashOf(['usage', model ?? null, input, output]);
  const isRefused = isFailed && input === undefined && output === undefined && model !== undefined;
  return isRefused ? hashOf(['refused', model]) : undefined;
}

/** Some libraries prefix the model by its provider: `openai/gpt-x`. */
function bareModel(model: Json | undefined): Json | undefined {
  return typeof model === 'string' ? model.slice(model.lastIndexOf('/') + 1) : model;
}
