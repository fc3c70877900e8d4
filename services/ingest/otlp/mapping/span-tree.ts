import { isSpanId } from './ids.ts';
import type { Role } from './role.ts';

/** The properties of a span that its position in the trace depends on. */
export interface SpanNode {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly role: Role;
  /** For an agent run: the agent's id or name, if it has one. */
  readonly agentId: string | undefined;
}

/**
 * The spans of one request as trees, one for each trace. A parent may be in a later request, or missing. The cost is linear in
 * the number of spans, also for long chains and for cycles.
 */
export class SpanTree<Node extends SpanNode = SpanNode> {
  readonly #nodes = new Map<string, Node>();
  /** The spans that have an LLM span below them. */
  readonly #aboveLlm = new Set<SpanNode>();
  /** For each LLM span, the LLM spans directly below it, with no agent run and no tool between them. */
  readonly #nearestBelow = new Map<SpanNode, Set<SpanNode>>();
  readonly #nearestAbove = new Map<SpanNode, string | undefined>();
  /** LLM spans that are above a call in another way: through an agent run or a tool. */
  readonly #sums = new Set<SpanNode>();
  /** LLM spans that describe the same call as an innermost one below them. */
  readonly #merged = new Set<SpanNode>();
  readonly #parentEvents = new Map<SpanNode, string | undefined>();
  readonly #agents = new Map<SpanNode, string | undefined>();

  constructor(nodes: readonly Node[]) {
    for (const node of nodes) this.#nodes.set(node.traceId + node.spanId, node);
    for (const node of nodes) {
      if (node.role.kind !== 'llm') continue;
      this.#markAbove(node);
      const above = this.#llmAbove(node);
      if (above === undefined) continue;
      const below = this.#nearestBelow.get(above) ?? new Set();
      this.#nearestBelow.set(above, below.add(this.#nodes.get(node.traceId + node.spanId) ?? node));
    }
    for (const node of this.#aboveLlm) {
      const above =
        node.role.kind === 'tool' || node.role.kind === 'agent' ? this.#llmAbove(node) : undefined;
      if (above !== undefined) this.#sums.add(above);
    }
    for (const node of nodes) {
      if (node.role.kind !== 'llm' || this.#aboveLlm.has(node)) continue;
      for (const outer of this.outerOf(node)) this.#merged.add(outer);
    }
  }

  /**
   * The role of a span, given the other spans. An LLM span with exactly one LLM span directly below it describes the same
   * call; with several, or with an agent run or a tool between, it is the sum of several calls.
   */
  roleOf(node: SpanNode): Role {
    if (node.role.kind !== 'llm' || !this.#aboveLlm.has(node)) return node.role;
    return { kind: 'none', reason: this.#merged.has(node) ? 'merged' : 'aggregate' };
  }

  /** The LLM spans above an innermost one that describe the same call, the nearest first. */
  outerOf(node: Node): Node[] {
    const outer: Node[] = [];
    const seen = new Set<SpanNode>([node]);
    for (let above = this.#llmAbove(node); above !== undefined; above = this.#llmAbove(above)) {
      if (seen.has(above) || this.#sums.has(above) || this.#nearestBelow.get(above)?.size !== 1) break;
      seen.add(above);
      outer.push(above);
    }
    return outer;
  }

  /** The id of the nearest span above that becomes an event, or that is not in the request. */
  parentEventOf(node: SpanNode): string | undefined {
    return this.#climb(node, this.#parentEvents, {
      find: (ancestor) => {
        const { kind } = this.roleOf(ancestor);
        const isEvent = (kind === 'llm' || kind === 'tool') && isSpanId(ancestor.spanId);
        return isEvent ? ancestor.spanId : undefined;
      },
      beyond: (spanId) => (isSpanId(spanId) ? spanId : undefined),
    });
  }

  /** The agent of the nearest agent run above. */
  agentOf(node: SpanNode): string | undefined {
    return this.#climb(node, this.#agents, { find: ({ agentId }) => agentId, beyond: () => undefined });
  }

  #markAbove(node: SpanNode): void {
    for (let above = this.#above(node); above !== undefined; above = this.#above(above)) {
      if (this.#aboveLlm.has(above)) return;
      this.#aboveLlm.add(above);
    }
  }

  /** The nearest LLM span above, with no agent run and no tool between. */
  #llmAbove(node: SpanNode): Node | undefined {
    const spanId = this.#climb(node, this.#nearestAbove, {
      find: ({ role, spanId: found }) =>
        role.kind === 'none' ? undefined : role.kind === 'llm' ? found : '',
      beyond: () => undefined,
    });
    return spanId === undefined || spanId === '' ? undefined : this.#nodes.get(node.traceId + spanId);
  }

  #above({ traceId, parentSpanId }: SpanNode): Node | undefined {
    return parentSpanId === '' ? undefined : this.#nodes.get(traceId + parentSpanId);
  }

  /**
   * Walks up until `find` returns a value, or until the parent is not in the request. All spans on the path have the same
   * result, which is cached in `results`.
   */
  #climb(
    start: SpanNode,
    results: Map<SpanNode, string | undefined>,
    {
      find,
      beyond,
    }: {
      find: (ancestor: SpanNode) => string | undefined;
      beyond: (spanId: string) => string | undefined;
    },
  ): string | undefined {
    const path = new Set<SpanNode>();
    let result: string | undefined;
    for (let node = start; !path.has(node); ) {
      if (results.has(node)) {
        result = results.get(node);
        break;
      }
      path.add(node);
      const above = this.#above(node);
      result = above === undefined ? beyond(node.parentSpanId) : find(above);
      if (above === undefined || result !== undefined) break;
      node = above;
    }
    for (const node of path) results.set(node, result);
    return result;
  }
}
