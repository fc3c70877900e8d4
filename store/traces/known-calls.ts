import { groupCalls, type ObservedCall } from './merge/same-calls.ts';
import type { StoredNode } from './read-traces.ts';
import type { SpanTree } from './span-tree.ts';

/** A model call, and all spans that describe it. */
export interface KnownCall {
  /** The span whose event is that of the call; undefined when none of them has one. */
  readonly main: StoredNode | undefined;
  readonly spans: readonly StoredNode[];
}

/** An innermost LLM span with the LLM spans above it. */
interface Chain {
  readonly innermost: StoredNode;
  readonly spans: readonly StoredNode[];
}

/** What is known to be one call already. */
type Joined = ObservedCall & { readonly chains: Chain[] };

/**
 * The model calls of these traces. Spans are of one call when one is below the other, when they were merged
 * before, and by the rules of `groupCalls`. Calls without an event are left out: they were deleted, or are in
 * quarantine.
 */
export function findCalls(nodes: readonly StoredNode[], tree: SpanTree<StoredNode>): KnownCall[] {
  const chains = nodes
    .filter((node) => tree.outcomeOf(node) === 'call')
    .map((innermost) => ({ innermost, spans: [innermost, ...tree.outerOf(innermost)] }));
  const joined = joinMerged(chains).map(observe);
  const scopes = new Set(joined.flatMap((call) => call.scopes));
  // Most traces have spans of one library only.
  const groups = scopes.size < 2 ? joined.map((call) => [call]) : groupCalls(joined);
  return groups.map((group) => {
    const own = sortByPreference(group.flatMap((call) => call.chains));
    const innermost = own.find((chain) => chain.innermost.eventId !== null)?.innermost;
    const spans = own.flatMap((chain) => chain.spans);
    return { main: innermost, spans };
  });
}

/** Chains with an event in common are one call. */
function joinMerged(chains: readonly Chain[]): Chain[][] {
  const groups = new Map<string, Chain[]>();
  for (const chain of chains) {
    const eventIds = chain.spans.flatMap(({ eventId, mergedEventId }) => eventId ?? mergedEventId ?? []);
    if (eventIds.length === 0) continue;
    const known = [...new Set(eventIds.flatMap((id) => groups.get(id) ?? []))];
    const group = [...known, chain];
    for (const { spans } of group)
      for (const { eventId, mergedEventId } of spans) {
        const id = eventId ?? mergedEventId;
        if (id !== null) groups.set(id, group);
      }
  }
  return [...new Set(groups.values())];
}

function observe(chains: Chain[]): Joined {
  const spans = chains.flatMap((chain) => chain.spans);
  const innermost = chains.map((chain) => chain.innermost);
  return {
    chains,
    scopes: spans.flatMap(({ scope }) => scope ?? []),
    responseKey: spans.find(({ responseKey }) => responseKey !== null)?.responseKey ?? undefined,
    siblingKeys: chains.flatMap(siblingKeyOf),
    startTimeMs: Math.min(...innermost.map((node) => node.startTimeMs)),
    endTimeMs: Math.max(...innermost.map((node) => node.endTimeMs)),
  };
}

/**
 * The span that is the event comes first: of several traces that with a parent, then the one in which the
 * call started first, which is the caller's; in it the shortest span, which is closest to the provider. What
 * an innermost span has above it does not matter: that may be stored after an event was merged into another.
 */
function sortByPreference(chains: readonly Chain[]): Chain[] {
  const isRoot = (trace: readonly Chain[]) => trace.every(({ innermost }) => innermost.parentSpanId === '');
  const start = (trace: readonly Chain[]) => Math.min(...trace.map(({ innermost }) => innermost.startTimeMs));
  const longest = (trace: readonly Chain[]) => Math.max(...trace.map(durationOf));
  const byId = (a: string, b: string) => (a < b ? -1 : 1);
  return Map.groupBy(chains, ({ innermost }) => innermost.traceId)
    .entries()
    .toArray()
    .sort(
      ([idA, a], [idB, b]) =>
        Number(isRoot(a)) - Number(isRoot(b)) ||
        start(a) - start(b) ||
        longest(b) - longest(a) ||
        byId(idA, idB),
    )
    .flatMap(([, trace]) =>
      trace.sort((a, b) => durationOf(a) - durationOf(b) || byId(a.innermost.spanId, b.innermost.spanId)),
    );
}

function durationOf({ innermost: { startTimeMs, endTimeMs } }: Chain): number {
  return endTimeMs - startTimeMs;
}

/** By trace, parent and a model with usage or a stream's request. Spans of an older ingest have no keys. */
function siblingKeyOf({ spans }: Chain): string[] {
  const top = spans.at(-1);
  const usageKeys = new Set(
    spans.flatMap(({ usageKey, requestKey }) => [usageKey ?? [], requestKey ?? []].flat()),
  );
  return top === undefined ? [] : [...usageKeys].map((key) => `${top.traceId} ${top.parentSpanId} ${key}`);
}
