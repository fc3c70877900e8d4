import type { NodeKind, SpanContext, SpanNode } from '../../../../store/traces/span-tree.ts';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import type { TraceNode } from '../../../../store/traces/trace-node.ts';
import type { Json } from '../../read/protobuf-struct.ts';
import { bareModel } from '../calls/call-traits.ts';
import { observedFromMs, streamKeyOf } from '../calls/stream-log.ts';
import { hashOf, isTraceId, traceUuidOf } from '../mapping/ids.ts';
import type { JsonObject } from '../mapping/json-object.ts';
import { isJsonObject } from '../mapping/messages/messages.ts';
import { statusError, toMs } from '../mapping/span-to-event.ts';
import type { Span } from '../spans/span.ts';

/** Spans of databases have no calls below them, and there are many. */
const databaseAttributes = ['db.system', 'db.system.name'];

/** These have an event, which has the name. Links are only followed. */
const unnamedKinds: ReadonlySet<NodeKind> = new Set(['llm', 'tool', 'link', 'log']);

/** Makes the nodes of a request's traces (store/traces): they connect its events with those of other requests. */
export class NodeBuilder {
  readonly #nodes = new Map<SpanNode, TraceNode>();

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
    });
  }

  /** Notes the properties by which spans of several libraries are recognised as one call. @param event of this span alone. */
  setTraits(node: SpanNode & { readonly scope: string }, event: JsonObject): void {
    const found = this.#nodes.get(node);
    if (found === undefined || found.kind !== 'llm') return;
    const llm = memberOf(memberOf(event, 'properties'), 'llm');
    const [model, responseId] = [memberOf(llm, 'model'), memberOf(llm, 'responseId')];
    const usage = memberOf(llm, 'usage');
    const state = memberOf(memberOf(event, 'status'), 'state');
    const [input, output] = [memberOf(usage, 'inputTokens'), memberOf(usage, 'outputTokens')];
    Object.assign(found, {
      scope: node.scope,
      responseKey: responseId === undefined ? undefined : hashOf(['response', responseId]),
      usageKey: found.usageKey ?? usageKeyOf({ model, input, output, isFailed: state === 'error' }),
    });
  }

  /** Notes the event that a span has become. @param others the spans that are merged into it. */
  setEvent(node: SpanNode, event: JsonObject, others: readonly SpanNode[] = []): void {
    const found = this.#nodes.get(node);
    if (found === undefined) return;
    Object.assign(found, { eventId: event.id });
    for (const other of others) Object.assign(this.#nodes.get(other) ?? {}, { mergedEventId: event.id });
  }

  /** @param contextOf the agent, thread and user of a span, as far as the request tells. */
  finish(contextOf: (node: SpanNode) => SpanContext): TraceNode[] {
    return Array.from(this.#nodes, ([node, made]) => ({ ...made, ...contextOf(node) }));
  }
}

/** Equal for spans of one call. A refused call has no usage. */
function usageKeyOf(call: {
  model: Named;
  input: Named;
  output: Named;
  isFailed: boolean;
}): string | undefined {
  const { input, output, isFailed } = call;
  const model = bareModel(call.model);
  if (input !== undefined && output !== undefined) return hashOf(['usage', model ?? null, input, output]);
  const isRefused = isFailed && input === undefined && output === undefined && model !== undefined;
  return isRefused ? hashOf(['refused', model]) : undefined;
}

type Named = Json | undefined;

function memberOf(json: Json | undefined, name: string): Json | undefined {
  return isJsonObject(json) ? json[name] : undefined;
}
