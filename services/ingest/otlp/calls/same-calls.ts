import type { SpanNode } from '../../../../lib/traces/span-tree.ts';
import type { CallTraits } from './call-traits.ts';

/** The innermost LLM span of a call, and the LLM spans above it that describe the same call. */
export interface Call<Node extends SpanNode = SpanNode> {
  readonly innermost: Node;
  /** From the nearest to the outermost. */
  readonly outer: readonly Node[];
}

interface Cluster<Node extends SpanNode> {
  readonly calls: Call<Node>[];
  readonly scopes: Set<string>;
  responseId: string | undefined;
  readonly startNs: bigint;
  endNs: bigint;
}

/** Most simultaneous calls with the same key that a call is compared with. Beyond that it counts as a separate call. */
const comparisonsMax = 64;

/**
 * Groups spans of different instrumentations that observed the same call: by response id, in any trace; without one, by
 * parent, model and usage. In both cases the times must overlap. Two spans of one library are always two calls, so that
 * three simultaneous equal calls stay three. Overlapping times alone are not enough.
 *
 * @returns each call once, as a group. The event gets the ids of its first element.
 */
export function groupCalls<Node extends SpanNode>(
  calls: readonly Call<Node>[],
  traitsOf: (node: Node) => CallTraits,
): Call<Node>[][] {
  const clusters: Cluster<Node>[] = [];
  const open = new Map<string, Cluster<Node>[]>();
  const sorted = calls.map((call) => describe(call, traitsOf)).sort((a, b) => compare(a.startNs, b.startNs));
  for (const described of sorted) {
    const keys = keysOf(described);
    const candidates = keys.flatMap((key) => stillOpen(open, key, described.startNs));
    const found = candidates.slice(-comparisonsMax).find((cluster) => isSame(cluster, described));
    const cluster = found ?? newCluster<Node>(described);
    join(cluster, described);
    if (found === undefined) clusters.push(cluster);
    for (const key of keys) {
      const listed = open.get(key) ?? [];
      if (!listed.includes(cluster)) open.set(key, [...listed, cluster]);
    }
  }
  return clusters.map(({ calls: members }) => members.sort(byPreference(traitsOf)));
}

type Described<Node extends SpanNode> = { call: Call<Node>; scopes: readonly string[] } & Omit<
  CallTraits,
  'scope'
>;

/** The traits of a call: each from the first span that has it; the times are those of the innermost span. */
function describe<Node extends SpanNode>(
  call: Call<Node>,
  traitsOf: (node: Node) => CallTraits,
): Described<Node> {
  const all = [call.innermost, ...call.outer].map(traitsOf);
  const first = <K extends keyof CallTraits>(name: K) =>
    all.find((traits) => traits[name] !== undefined)?.[name];
  const { startNs, endNs } = traitsOf(call.innermost);
  return {
    call,
    scopes: all.map(({ scope }) => scope),
    model: first('model'),
    inputTokens: first('inputTokens'),
    outputTokens: first('outputTokens'),
    responseId: first('responseId'),
    startNs,
    endNs,
  };
}

function keysOf<Node extends SpanNode>(described: Described<Node>): string[] {
  const { call, model, inputTokens, outputTokens, responseId } = described;
  const { traceId, parentSpanId } = call.outer.at(-1) ?? call.innermost;
  const keys = responseId === undefined ? [] : [`id ${responseId}`];
  const isMeasured = inputTokens !== undefined && outputTokens !== undefined;
  if (isMeasured) keys.push(JSON.stringify([traceId, parentSpanId, model, inputTokens, outputTokens]));
  return keys;
}

/** The clusters of a key that have not ended before this time. */
function stillOpen<Node extends SpanNode>(
  open: Map<string, Cluster<Node>[]>,
  key: string,
  startNs: bigint,
): readonly Cluster<Node>[] {
  const listed = (open.get(key) ?? []).filter(({ endNs }) => endNs >= startNs).slice(-comparisonsMax);
  open.set(key, listed);
  return listed;
}

function isSame<Node extends SpanNode>(
  cluster: Cluster<Node>,
  { scopes, responseId }: Described<Node>,
): boolean {
  const isOtherAnswer =
    cluster.responseId !== undefined && responseId !== undefined && cluster.responseId !== responseId;
  return !isOtherAnswer && !scopes.some((scope) => cluster.scopes.has(scope));
}

function newCluster<Node extends SpanNode>({ startNs, endNs }: Described<Node>): Cluster<Node> {
  return { calls: [], scopes: new Set(), responseId: undefined, startNs, endNs };
}

function join<Node extends SpanNode>(
  cluster: Cluster<Node>,
  { call, scopes, responseId, endNs }: Described<Node>,
): void {
  cluster.calls.push(call);
  for (const scope of scopes) cluster.scopes.add(scope);
  cluster.responseId ??= responseId;
  if (endNs > cluster.endNs) cluster.endNs = endNs;
}

/** Sorts calls with a parent first, then shorter ones, which were observed closer to the provider. */
function byPreference<Node extends SpanNode>(traitsOf: (node: Node) => CallTraits) {
  const durationOf = ({ innermost }: Call<Node>) => traitsOf(innermost).endNs - traitsOf(innermost).startNs;
  const isRoot = ({ innermost, outer }: Call<Node>) =>
    (outer.at(-1) ?? innermost).parentSpanId === '' ? 1 : 0;
  return (a: Call<Node>, b: Call<Node>) =>
    isRoot(a) - isRoot(b) ||
    compare(durationOf(a), durationOf(b)) ||
    (a.innermost.spanId < b.innermost.spanId ? -1 : 1);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
