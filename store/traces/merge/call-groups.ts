import { editedSegmentsMax, editedTotalBytesMax, mergedCallsMax } from '../limits.ts';
import type { StoredNode } from '../read-traces.ts';
import type { Relations, SurplusCall } from '../relations.ts';

/** The event of a call, and the events and parts of events that are taken out or merged into it. */
export interface CallGroup {
  /** Undefined for a sum of several calls, which is only removed. */
  readonly call: StoredNode | undefined;
  readonly outer: readonly SurplusCall[];
  /** Spans whose part is taken out of the event of the call. */
  readonly dropped: readonly StoredNode[];
}

/** Each call once, and each sum of several calls. */
export function groupByCall(surplus: readonly SurplusCall[], sums: Relations['sums']): CallGroup[] {
  const ofCalls = surplus.filter(({ call }) => call !== undefined);
  const byCall = Map.groupBy(ofCalls, ({ call }) => call);
  const droppedOf = Map.groupBy(sums, ({ call }) => call);
  const calls = [...new Set([...byCall.keys(), ...droppedOf.keys()])];
  return [
    ...calls.map((call) => ({
      call,
      outer: byCall.get(call) ?? [],
      dropped: (call && droppedOf.get(call)?.map(({ node }) => node)) ?? [],
    })),
    ...surplus.flatMap((one) =>
      one.call === undefined ? { call: undefined, outer: [one], dropped: [] } : [],
    ),
  ];
}

/** Groups for statements of a bounded size, in the order of their segments. */
export function divideGroups(
  groups: readonly CallGroup[],
  segmentsOf: (group: CallGroup) => readonly string[],
  sizes: ReadonlyMap<string, number>,
): CallGroup[][] {
  const keyed = groups.map((group) => ({ group, ids: segmentsOf(group) }));
  keyed.sort((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1));
  const batches: CallGroup[][] = [];
  let open = new Set<string>();
  let bytes = 0;
  for (const { group, ids } of keyed) {
    const added = new Set(ids).difference(open);
    const addedBytes = [...added].reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    const isFull =
      open.size + added.size > editedSegmentsMax ||
      bytes + addedBytes > editedTotalBytesMax ||
      batches.at(-1)?.length === mergedCallsMax;
    if (batches.length === 0 || isFull) {
      batches.push([]);
      [open, bytes] = [new Set(), 0];
    }
    for (const id of ids) {
      if (!open.has(id)) bytes += sizes.get(id) ?? 0;
      open.add(id);
    }
    batches.at(-1)?.push(group);
  }
  return batches;
}
