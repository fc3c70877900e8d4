import type { NodeKind, SpanContext, SpanNode } from '../../../../lib/traces/span-tree.ts';
import { isSpanId } from '../../../../lib/traces/span-tree.ts';
import type { TraceNode } from '../../../../lib/traces/trace-node.ts';
import type { Json } from '../../read/protobuf-struct.ts';
import { isTraceId, traceUuidOf } from '../mapping/ids.ts';
import type { JsonObject } from '../mapping/json-object.ts';
import { isJsonObject } from '../mapping/messages/messages.ts';
import { statusError, toMs } from '../mapping/span-to-event.ts';
import type { Span } from '../spans/span.ts';

/** Spans of databases have no calls below them, and there are many. */
const databaseAttributes = ['db.system', 'db.system.name'];

/** These have an event, which has the name. Links are only followed. */
const unnamedKinds: ReadonlySet<NodeKind> = new Set(['llm', 'tool', 'link', 'log']);

/** Makes the nodes of a request's traces (lib/traces): they connect its events with those of other requests. */
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
      startTimeMs: toMs(span.startNs),
      endTimeMs: toMs(span.endNs),
    });
  }

  /** Notes the event that a span has become. */
  setEvent(node: SpanNode, event: JsonObject): void {
    const found = this.#nodes.get(node);
    if (found === undefined) return;
    const usage = memberOf(memberOf(memberOf(event, 'properties'), 'llm'), 'usage');
    const reasoningTokens = memberOf(memberOf(usage, 'outputTokenDetails'), 'reasoningTokens');
    Object.assign(found, { eventId: event.id, reasoningTokens });
  }

  /** @param contextOf the agent, thread and user of a span, as far as the request tells. */
  finish(contextOf: (node: SpanNode) => SpanContext): TraceNode[] {
    return Array.from(this.#nodes, ([node, made]) => ({ ...made, ...contextOf(node) }));
  }
}

function memberOf(json: Json | undefined, name: string): Json | undefined {
  return isJsonObject(json) ? json[name] : undefined;
}
