import { isSpanId } from './ids.ts';
import type { Role } from './role.ts';

/** What is known of a span for its place in its trace. */
export interface SpanNode {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly role: Role;
  /** Of an agent's run: the agent, where it has a name. */
  readonly agentId: string | undefined;
}

/**
 * The spans of one request as the trees of their traces, as far as they are in the request: parents often come later, or
 * never. Chains and circles of any length cost no more than their spans.
 */
export class SpanTree<Node extends SpanNode = SpanNode> {
  readonly #nodes = new Map<string, Node>();
  /** Spans that have an LLM span below them. */
  readonly #aboveLlm = new Set<SpanNode>();
  /** LLM spans by the LLM span that is the nearest above them, with no run and no tool between. */
  readonly #nearestBelow = new Map<SpanNode, Set<SpanNode>>();
  readonly #nearestAbove = new Map<SpanNode, string | undefined>();
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
  }

  /**
   * What the span is, now that the others are known. An LLM span with one LLM span below it describes the same call; one with
   * several, or with a run or a tool between, is the sum of several calls.
   */
  roleOf(node: SpanNode): Role {
    if (node.role.kind !== 'llm' || !this.#aboveLlm.has(node)) return node.role;
    return { kind: 'none', reason: this.#nearestBelow.get(node)?.size === 1 ? 'merged' : 'aggregate' };
  }

  /** The LLM spans above an innermost one that describe the same call, from the nearest on. */
  outerOf(node: Node): Node[] {
    const outer: Node[] = [];
    const seen = new Set<SpanNode>([node]);
    for (let above = this.#llmAbove(node); above !== undefined; above = this.#llmAbove(above)) {
      const role = this.roleOf(above);
      if (seen.has(above) || role.kind !== 'none' || role.reason !== 'merged') break;
      seen.add(above);
      outer.push(above);
    }
    return outer;
  }

  /** The span whose event is the parent's: the nearest above that is an event, or one that is not in the request. */
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

  /** The agent of the nearest run above. */
  agentOf(node: SpanNode): string | undefined {
    return this.#climb(node, this.#agents, { find: ({ agentId }) => agentId, beyond: () => undefined });
  }

  #markAbove(node: SpanNode): void {
    for (let above = this.#above(node); above !== undefined; above = this.#above(above)) {
      if (this.#aboveLlm.has(above)) return;
      this.#aboveLlm.add(above);
    }
  }

  /** The LLM span that is the nearest above, with no run and no tool between. */
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
   * Walks up until `find` has an answer, or until a span is not in the request. What it meets on its way has the same
   * answer, and is remembered.
   */
  #climb(
    start: SpanNode,
    answers: Map<SpanNode, string | undefined>,
    {
      find,
      beyond,
    }: {
      find: (ancestor: SpanNode) => string | undefined;
      beyond: (spanId: string) => string | undefined;
    },
  ): string | undefined {
    const path = new Set<SpanNode>();
    let answer: string | undefined;
    for (let node = start; !path.has(node); ) {
      if (answers.has(node)) {
        answer = answers.get(node);
        break;
      }
      path.add(node);
      const above = this.#above(node);
      answer = above === undefined ? beyond(node.parentSpanId) : find(above);
      if (above === undefined || answer !== undefined) break;
      node = above;
    }
    for (const node of path) answers.set(node, answer);
    return answer;
  }
}
