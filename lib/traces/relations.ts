import type { ReadTrace, StoredNode } from './read-traces.ts';
import { SpanTree } from './span-tree.ts';

/** What a span inherits and does not have yet. */
export interface Inherited {
  readonly node: StoredNode;
  readonly context: Readonly<Record<ContextColumn, string | undefined>>;
}

export const contextColumns = ['agentId', 'threadId', 'userId'] as const;
type ContextColumn = (typeof contextColumns)[number];

/** A span that became an event, although calls below it are events, too. */
export interface SurplusCall {
  readonly node: StoredNode;
  /** The call that it describes; undefined when it is the sum of several. */
  readonly call: StoredNode | undefined;
  /** Some of the calls below. */
  readonly below: readonly StoredNode[];
}

export interface Relations {
  readonly inherited: readonly Inherited[];
  /** From the nearest span of a call to the outermost. */
  readonly surplus: readonly SurplusCall[];
}

/** Calls below a surplus one that are looked up: one of them is enough, but some may have expired. */
const lookedUpMax = 10;

/** What the tree of a trace tells about its spans. */
export function findRelations({ nodes }: ReadTrace): Relations {
  const tree = new SpanTree(nodes);
  const inherited = nodes.flatMap((node) => {
    const { agentId, threadId, userId } = tree.contextOf(node);
    const context = { agentId, threadId, userId };
    const isKnown = contextColumns.every((column) => context[column] === node.context[column]);
    return isKnown ? [] : [{ node, context }];
  });
  return { inherited, surplus: findSurplus(nodes, tree) };
}

function findSurplus(nodes: readonly StoredNode[], tree: SpanTree<StoredNode>): SurplusCall[] {
  const isSurplus = (node: StoredNode) => {
    const outcome = tree.outcomeOf(node);
    return node.eventId !== null && (outcome === 'merged' || outcome === 'aggregate');
  };
  if (!nodes.some((node) => node.kind === 'log' || isSurplus(node))) return [];
  const found = new Map<StoredNode, { call: StoredNode | undefined; below: StoredNode[] }>();
  for (const call of nodes) {
    if (call.eventId === null || tree.outcomeOf(call) !== 'call') continue;
    const outer = new Set(tree.outerOf(call));
    for (const above of tree.llmSpansAbove(call)) {
      if (!isSurplus(above)) continue;
      const entry = found.get(above) ?? { call: undefined, below: [] };
      found.set(above, entry);
      if (outer.has(above)) entry.call = call;
      if (entry.below.length < lookedUpMax) entry.below.push(call);
    }
  }
  return [...Array.from(found, ([node, entry]) => ({ node, ...entry })), ...findLogs(nodes, tree)];
}

/** Log records whose call is known: their content belongs to its event. */
function findLogs(nodes: readonly StoredNode[], tree: SpanTree<StoredNode>): SurplusCall[] {
  const logs = nodes.filter(({ kind, eventId }) => kind === 'log' && eventId !== null);
  if (logs.length === 0) return [];
  const callOf = new Map<string, StoredNode>();
  for (const call of nodes) {
    if (call.eventId === null || tree.outcomeOf(call) !== 'call') continue;
    for (const { spanId } of [call, ...tree.outerOf(call)]) callOf.set(spanId, call);
  }
  return logs.flatMap((node) => {
    const call = callOf.get(node.parentSpanId);
    return call === undefined ? [] : [{ node, call, below: [call] }];
  });
}
