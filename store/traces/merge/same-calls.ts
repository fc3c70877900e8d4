/** A model call, as the spans of one library or of several describe it. */
export interface ObservedCall {
  /** The libraries that created the spans. A library creates one span for each call. */
  readonly scopes: readonly string[];
  /** Identifies the provider's response, in any trace. */
  readonly responseKey: string | undefined;
  /** Identify the trace, the parent, the model and the usage. */
  readonly siblingKeys: readonly string[];
  /** When the first of the spans started, and the last one ended. */
  readonly startTimeMs: number;
  readonly endTimeMs: number;
}

interface Cluster<Call extends ObservedCall> {
  readonly calls: Call[];
  readonly scopes: Set<string>;
  responseKey: string | undefined;
  endTimeMs: number;
}

/** Most simultaneous calls of one key that a call is compared with; beyond, it is a separate call. */
export const comparisonsMax = 64;

/**
 * Groups what different instrumentations observed of the same call: by the response, in any trace; without
 * one, by parent, model and usage. In both cases the times must overlap. Two spans of one library are always
 * two calls, so that three simultaneous equal calls stay three. Overlapping times alone are not enough.
 * @returns each call once, as a group.
 */
export function groupCalls<Call extends ObservedCall>(calls: readonly Call[]): Call[][] {
  const clusters: Cluster<Call>[] = [];
  const open = new Map<string, Cluster<Call>[]>();
  for (const call of calls.toSorted((a, b) => a.startTimeMs - b.startTimeMs)) {
    const keys = call.siblingKeys.map((key) => `sibling ${key}`);
    if (call.responseKey !== undefined) keys.unshift(`response ${call.responseKey}`);
    const candidates = keys.flatMap((key) => stillOpen(open, key, call.startTimeMs));
    const found = candidates.slice(-comparisonsMax).find((cluster) => isSame(cluster, call));
    const cluster = found ?? { calls: [], scopes: new Set(), responseKey: undefined, endTimeMs: 0 };
    join(cluster, call);
    if (found === undefined) clusters.push(cluster);
    for (const key of keys) {
      const listed = open.get(key) ?? [];
      if (!listed.includes(cluster)) open.set(key, [...listed, cluster]);
    }
  }
  return clusters.map(({ calls: members }) => members);
}

/** The clusters of a key that have not ended before this time. */
function stillOpen<Call extends ObservedCall>(
  open: Map<string, Cluster<Call>[]>,
  key: string,
  startTimeMs: number,
): readonly Cluster<Call>[] {
  const listed = (open.get(key) ?? [])
    .filter(({ endTimeMs }) => endTimeMs >= startTimeMs)
    .slice(-comparisonsMax);
  open.set(key, listed);
  return listed;
}

function isSame<Call extends ObservedCall>(cluster: Cluster<Call>, { scopes, responseKey }: Call): boolean {
  const isOtherResponse =
    cluster.responseKey !== undefined && responseKey !== undefined && cluster.responseKey !== responseKey;
  return !isOtherResponse && !scopes.some((scope) => cluster.scopes.has(scope));
}

function join<Call extends ObservedCall>(cluster: Cluster<Call>, call: Call): void {
  cluster.calls.push(call);
  for (const scope of call.scopes) cluster.scopes.add(scope);
  cluster.responseKey ??= call.responseKey;
  cluster.endTimeMs = Math.max(cluster.endTimeMs, call.endTimeMs);
}

/** Properties by which tool spans are recognised as one call, and which other spans may have too. */
export interface ToolKeys {
  /** The library that created the span. */
  readonly scope?: string | null | undefined;
  /** A hash of the tool's name. */
  readonly usageKey?: string | null | undefined;
  /** A hash of the call's id and its trace. */
  readonly responseKey?: string | null | undefined;
}

/**
 * Whether a tool span describes the call of the one above. Two of one library are two calls, unless they name
 * one id.
 */
export function isSameToolCall(below: ToolKeys, above: ToolKeys): boolean {
  const [idBelow, idAbove] = [below.responseKey ?? undefined, above.responseKey ?? undefined];
  if (idBelow !== undefined && idAbove !== undefined) return idBelow === idAbove;
  const hasSameName = (below.usageKey ?? undefined) !== undefined && below.usageKey === above.usageKey;
  return hasSameName && below.scope !== above.scope;
}
