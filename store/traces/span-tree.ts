import type { traceNodes } from '../db/schema.ts';
import { isSameToolCall, type ToolKeys } from './merge/same-calls.ts';

export type NodeKind = (typeof traceNodes.$inferSelect)['kind'];

/** Whose call a span is part of. Undefined: the span does not name one. */
export interface SpanContext {
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly userId?: string | undefined;
}

/** The properties of a span that its position in the trace depends on. */
export interface SpanNode extends ToolKeys {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty without a parent. */
  readonly parentSpanId: string;
  readonly kind: NodeKind;
  /** What the span itself names. */
  readonly context: SpanContext;
}

/**
 * What an LLM span is, given the other spans: a call; `merged` with the call below it, which it describes
 * too; or `aggregate`, the sum of several calls. All other spans are `other`.
 */
export type SpanOutcome = 'call' | 'merged' | 'aggregate' | 'other';

const spanIdPattern = /^(?!0{16}$)[0-9a-f]{16}$/;

/** Spans above one that are examined: chains of thousands would cost the product of their lengths. */
const climbedMax = 256;

/** Whether the text is a valid span id. Some exporters send zeros for a missing parent. */
export function isSpanId(text: string): boolean {
  return spanIdPattern.test(text);
}

/**
 * Spans as trees, one for each trace: those of a request, or all known ones of a trace. A parent may be
 * missing, or arrive later. The cost is linear in the number of spans, also for long chains.
 */
export class SpanTree<Node extends SpanNode = SpanNode> {
  readonly #nodes = new Map<string, Node>();
  /** Spans that are above themselves. Their parent is a mistake of the sender, and counts as missing. */
  readonly #cyclic = new Set<SpanNode>();
  /** The spans that have an LLM span below them. */
  readonly #aboveLlm = new Set<SpanNode>();
  /** For each LLM span, the LLM spans directly below it, with no agent run and no tool between them. */
  readonly #nearestBelow = new Map<SpanNode, Set<SpanNode>>();
  /** The nearest call of each kind above a span, as far as it was looked up. */
  readonly #nearestAbove = {
    llm: new Map<SpanNode, string | undefined>(),
    tool: new Map<SpanNode, string | undefined>(),
  };
  /** LLM spans that are above a call in another way: through an agent run or a tool. */
  readonly #sums = new Set<SpanNode>();
  /** LLM spans that describe the same call as an innermost one below them. */
  readonly #merged = new Set<SpanNode>();
  /** For each tool span, the outermost one that describes the same call: possibly itself. */
  readonly #toolCalls = new Map<Node, Node>();
  readonly #parentEvents = new Map<SpanNode, string | undefined>();
  readonly #inherited = new Map<keyof SpanContext, Map<SpanNode, string | undefined>>();

  constructor(nodes: readonly Node[]) {
    for (const node of nodes) this.#nodes.set(node.traceId + node.spanId, node);
    for (const node of findCycles(nodes, (one) => this.#above(one))) this.#cyclic.add(node);
    for (const node of nodes) {
      if (node.kind !== 'llm') continue;
      this.#markAbove(node);
      const above = this.#callAbove(node, 'llm');
      if (above === undefined) continue;
      const below = this.#nearestBelow.get(above) ?? new Set();
      this.#nearestBelow.set(above, below.add(this.#nodes.get(node.traceId + node.spanId) ?? node));
    }
    for (const node of this.#aboveLlm) {
      const above = node.kind === 'tool' || node.kind === 'agent' ? this.#callAbove(node, 'llm') : undefined;
      if (above !== undefined) this.#sums.add(above);
    }
    for (const node of nodes) {
      if (node.kind !== 'llm' || this.#aboveLlm.has(node)) continue;
      for (const outer of this.outerOf(node)) this.#merged.add(outer);
    }
  }

  /** Describes one call with a single LLM span directly below, else the sum of the calls below. */
  outcomeOf(node: SpanNode): SpanOutcome {
    if (node.kind !== 'llm') return 'other';
    if (!this.#aboveLlm.has(node)) return 'call';
    return this.#merged.has(node) ? 'merged' : 'aggregate';
  }

  /** The LLM spans above an innermost one that describe the same call, the nearest first. */
  outerOf(node: Node): Node[] {
    const outer: Node[] = [];
    const seen = new Set<SpanNode>([node]);
    for (
      let above = this.#callAbove(node, 'llm');
      above !== undefined;
      above = this.#callAbove(above, 'llm')
    ) {
      if (seen.has(above) || this.#sums.has(above) || this.#nearestBelow.get(above)?.size !== 1) break;
      seen.add(above);
      outer.push(above);
    }
    return outer;
  }

  /**
   * The outermost tool span of the same call, maybe this one: MCP clients, servers and libraries each make
   * one.
   */
  toolCallOf(node: Node): Node {
    const path: Node[] = [];
    let call = node;
    for (;;) {
      const known = this.#toolCalls.get(call);
      call = known ?? call;
      if (known !== undefined) break;
      path.push(call);
      const above = this.#callAbove(call, 'tool');
      if (above === undefined || !isSameToolCall(call, above)) break;
      call = above;
    }
    for (const one of path) this.#toolCalls.set(one, call);
    return call;
  }

  /** The LLM spans among the {@link climbedMax} nearest spans above, the nearest first. */
  llmSpansAbove(node: Node): Node[] {
    const found = new Set<Node>();
    const seen = new Set<SpanNode>([node]);
    for (let above = this.#above(node); above !== undefined && !seen.has(above); above = this.#above(above)) {
      if (seen.size > climbedMax) break;
      seen.add(above);
      if (above.kind === 'llm') found.add(above);
    }
    return [...found];
  }

  /** The id of the nearest span above that becomes an event; undefined when the request does not have it. */
  parentEventOf(node: Node): string | undefined {
    const start = node.kind === 'tool' ? this.toolCallOf(node) : node;
    return this.#climb(start, this.#parentEvents, (ancestor) => {
      const event = ancestor.kind === 'tool' ? this.toolCallOf(ancestor) : ancestor;
      const isEvent = event.kind === 'tool' || this.outcomeOf(event) === 'call';
      return isEvent && isSpanId(event.spanId) ? event.spanId : undefined;
    });
  }

  /** The agent, thread and user of a span, or of the nearest span above that names one. */
  contextOf(node: SpanNode): SpanContext {
    return {
      agentId: this.#ownOrInherited(node, 'agentId'),
      threadId: this.#ownOrInherited(node, 'threadId'),
      userId: this.#ownOrInherited(node, 'userId'),
    };
  }

  #ownOrInherited(node: SpanNode, name: keyof SpanContext): string | undefined {
    const own = node.context[name];
    if (own !== undefined) return own;
    const results = this.#inherited.get(name) ?? new Map();
    this.#inherited.set(name, results);
    return this.#climb(node, results, ({ context }) => context[name]);
  }

  #markAbove(node: SpanNode): void {
    for (let above = this.#above(node); above !== undefined; above = this.#above(above)) {
      if (this.#aboveLlm.has(above)) return;
      this.#aboveLlm.add(above);
    }
  }

  /** The nearest span of a model or tool call above, with no other call and no agent run between. */
  #callAbove(node: SpanNode, wanted: 'llm' | 'tool'): Node | undefined {
    const spanId = this.#climb(node, this.#nearestAbove[wanted], ({ kind, spanId: found }) =>
      kind === wanted ? found : kind === 'llm' || kind === 'tool' || kind === 'agent' ? '' : undefined,
    );
    return spanId === undefined || spanId === '' ? undefined : this.#nodes.get(node.traceId + spanId);
  }

  #above(node: SpanNode): Node | undefined {
    const { traceId, parentSpanId } = node;
    return parentSpanId === '' || this.#cyclic.has(node)
      ? undefined
      : this.#nodes.get(traceId + parentSpanId);
  }

  /**
   * Walks up until `find` returns a value, or a parent is missing. Caches the result for all spans of the
   * path.
   */
  #climb(
    start: SpanNode,
    results: Map<SpanNode, string | undefined>,
    find: (ancestor: Node) => string | undefined,
  ): string | undefined {
    const path: SpanNode[] = [];
    let result: string | undefined;
    // `#above` breaks cycles.
    for (let node: SpanNode | undefined = start; node !== undefined && result === undefined; ) {
      if (results.has(node)) {
        result = results.get(node);
        break;
      }
      path.push(node);
      const above: Node | undefined = this.#above(node);
      result = above && find(above);
      node = above;
    }
    for (const node of path) results.set(node, result);
    return result;
  }
}

/** The spans that a walk up from them meets again. */
function findCycles<Node extends SpanNode>(
  nodes: readonly Node[],
  aboveOf: (node: Node) => Node | undefined,
): Node[] {
  const done = new Set<Node>();
  const cyclic: Node[] = [];
  for (const start of nodes) {
    const path = new Set<Node>();
    let node: Node | undefined = start;
    while (node !== undefined && !done.has(node) && !path.has(node)) {
      path.add(node);
      node = aboveOf(node);
    }
    if (node !== undefined && path.has(node)) {
      const walked = [...path];
      cyclic.push(...walked.slice(walked.indexOf(node)));
    }
    for (const one of path) done.add(one);
  }
  return cyclic;
}
