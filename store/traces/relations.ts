import { findCalls, type KnownCall } from './known-calls.ts';
import type { ReadTrace, StoredNode } from './read-traces.ts';
import { type SpanContext, SpanTree } from './span-tree.ts';

export interface Inherited {
  readonly node: StoredNode;
  readonly context: SpanContext;
  /** From other spans of the same call, in other places of the tree. Spans below do not inherit it. */
  readonly ofCall?: readonly SpanContext[];
}

export const contextColumns = ['agentId', 'threadId', 'userId'] as const;

/** A span that became an event, although its call has another event, or calls below it are events. */
export interface SurplusCall {
  readonly node: StoredNode;
  /** The call that it describes; undefined when it is the sum of several. */
  readonly call: StoredNode | undefined;
  /** Some of the calls below. */
  readonly below: readonly StoredNode[];
}

/** A span that was merged into the event of a call, and turned out to be the sum of several. */
export interface MergedSum {
  readonly node: StoredNode;
  readonly call: StoredNode;
}

export interface Relations {
  /** Spans that inherit what they do not have yet. */
  readonly inherited: readonly Inherited[];
  /** What the event of each span should have. */
  readonly ofEvents: readonly Inherited[];
  readonly sums: readonly MergedSum[];
  /** From the nearest span of a call to the outermost. */
  readonly surplus: readonly SurplusCall[];
}

/** Calls below a surplus one that are looked up: one of them is enough, but some may have expired. */
const lookedUpMax = 10;

export function findRelations(traces: readonly ReadTrace[]): Relations {
  const nodes = traces.flatMap((trace) => trace.nodes);
  const tree = new SpanTree(nodes);
  const calls = hasSeveral(nodes, tree) ? findCalls(nodes, tree) : [];
  const spansOf = new Map(calls.map(({ main, spans }) => [main, spans]));
  const found = nodes.map((node): Inherited => {
    const ofCall = spansOf.get(node)?.map((span) => tree.contextOf(span));
    return { node, context: tree.contextOf(node), ...(ofCall && { ofCall }) };
  });
  return {
    inherited: found.filter(({ node, context }) =>
      contextColumns.some((column) => context[column] !== node.context[column]),
    ),
    ofEvents: found.filter(({ node }) => node.eventId !== null),
    sums: findMergedSums(nodes, tree),
    surplus: findSurplus(nodes, calls, tree),
  };
}

function findMergedSums(nodes: readonly StoredNode[], tree: SpanTree<StoredNode>): MergedSum[] {
  const found = nodes.filter((node) => node.mergedEventId !== null && tree.outcomeOf(node) === 'aggregate');
  if (found.length === 0) return [];
  const callOf = new Map(nodes.map((node) => [node.eventId, node]));
  return found.flatMap((node) => {
    const call = callOf.get(node.mergedEventId);
    return call === undefined ? [] : [{ node, call }];
  });
}

/** Whether several spans may describe one call. */
function hasSeveral(nodes: readonly StoredNode[], tree: SpanTree<StoredNode>): boolean {
  const llm = nodes.filter(({ kind }) => kind === 'llm');
  return (
    nodes.some(({ kind }) => kind === 'log') ||
    llm.some((node) => tree.outcomeOf(node) !== 'call') ||
    new Set(llm.map(({ scope }) => scope)).size > 1
  );
}

function findSurplus(
  nodes: readonly StoredNode[],
  calls: readonly KnownCall[],
  tree: SpanTree<StoredNode>,
): SurplusCall[] {
  const surplus: SurplusCall[] = [];
  const mainOf = new Map<string, StoredNode>();
  const sums = new Map<StoredNode, StoredNode[]>();
  for (const { main, spans } of calls) {
    if (main === undefined) continue;
    for (const node of spans) {
      mainOf.set(keyOf(node.traceId, node.spanId), main);
      if (node !== main && node.eventId !== null) surplus.push({ node, call: main, below: [main] });
      if (tree.outcomeOf(node) !== 'call') continue;
      for (const above of tree.llmSpansAbove(node)) {
        if (above.eventId === null || tree.outcomeOf(above) !== 'aggregate') continue;
        const below = sums.get(above) ?? [];
        sums.set(above, below);
        if (below.length < lookedUpMax) below.push(main);
      }
    }
  }
  for (const [node, below] of sums) surplus.push({ node, call: undefined, below });
  for (const node of nodes) {
    const call = node.kind === 'tool' ? tree.toolCallOf(node) : node;
    if (call !== node && node.eventId !== null) surplus.push({ node, call, below: [call] });
  }
  return [...surplus, ...findSurplusLogs(nodes, mainOf)];
}

/** The content of log records belongs to the call's event, or without one to that of its first records. */
function findSurplusLogs(
  nodes: readonly StoredNode[],
  mainOf: ReadonlyMap<string, StoredNode>,
): SurplusCall[] {
  const logs = nodes.filter(({ kind, eventId }) => kind === 'log' && eventId !== null);
  const byCall = Map.groupBy(logs, (node) => keyOf(node.traceId, node.parentSpanId));
  return [...byCall].flatMap(([key, own]) => {
    const ofMessages = own.filter(({ usageKey }) => usageKey !== null).sort(byStart);
    const call = mainOf.get(key) ?? ofMessages[0];
    if (call === undefined) return [];
    return (mainOf.has(key) ? own : ofMessages.slice(1)).map((node) => ({ node, call, below: [call] }));
  });
}

function byStart(a: StoredNode, b: StoredNode): number {
  return a.startTimeMs - b.startTimeMs || (a.spanId < b.spanId ? -1 : 1);
}

function keyOf(traceId: string, spanId: string): string {
  return traceId + spanId;
}
