import { endOf, type TraceRow } from './trace-events.ts';

/**
 * Finds for each event the shortest longer event of the same agent group that contains it in time, preferably
 * of the same thread, in logarithmic time.
 * @param rows in time order: by start, longer events first.
 * @returns pairs of ids: the event, and the one that contains it.
 */
export function* findContaining(rows: readonly TraceRow[]): Generator<[id: string, containerId: string]> {
  const groupOf = ({ agentGroupId }: TraceRow) => agentGroupId;
  const threadOf = ({ agentGroupId, threadId }: TraceRow) => JSON.stringify([agentGroupId, threadId]);
  const groups = openContainers(rows, groupOf);
  const threads = openContainers(rows, threadOf);
  // Events with equal times contain each other but neither is longer, so they are added together.
  let equal: TraceRow[] = [];
  for (const row of rows) {
    const [first] = equal;
    if (first?.startTimeMs !== row.startTimeMs || endOf(first) !== endOf(row)) {
      for (const one of equal) {
        groups.get(groupOf(one))?.add(one);
        threads.get(threadOf(one))?.add(one);
      }
      equal = [];
    }
    equal.push(row);
    const found = threads.get(threadOf(row))?.find(row) ?? groups.get(groupOf(row))?.find(row);
    if (found !== undefined) yield [row.id, found.id];
  }
}

function openContainers<Key>(rows: readonly TraceRow[], keyOf: (row: TraceRow) => Key): Map<Key, Containers> {
  return new Map(
    Map.groupBy(rows, keyOf)
      .entries()
      .map(([key, own]) => [key, new Containers(own)]),
  );
}

/** A Fenwick tree over end times: finds the shortest event that ends at a given time or later. */
class Containers {
  /** Latest first. */
  readonly #ends: readonly number[];
  readonly #shortest: (TraceRow | undefined)[];

  /** @param rows the events that are added later. */
  constructor(rows: readonly TraceRow[]) {
    this.#ends = [...new Set(rows.map(endOf))].toSorted((a, b) => b - a);
    this.#shortest = new Array<TraceRow | undefined>(this.#ends.length + 1).fill(undefined);
  }

  add(row: TraceRow): void {
    // The rank of its end time, from 1.
    const rank = this.#countEnds((endMs) => endMs >= endOf(row));
    for (let at = rank; at < this.#shortest.length; at += at & -at) {
      const other = this.#shortest[at];
      if (other === undefined || lengthOf(row) < lengthOf(other)) this.#shortest[at] = row;
    }
  }

  /** The shortest of the added events that contains this one; among equally long ones the first. */
  find(row: TraceRow): TraceRow | undefined {
    const endMs = endOf(row);
    // An event of zero length is not contained in events that end when it begins.
    const isLasting = endMs > row.startTimeMs;
    let found: TraceRow | undefined;
    for (
      let at = this.#countEnds((other) => other > endMs || (isLasting && other === endMs));
      at > 0;
      at -= at & -at
    ) {
      const one = this.#shortest[at];
      if (one !== undefined && (found === undefined || isNearer(one, found))) found = one;
    }
    return found;
  }

  /** Counts the end times that satisfy the condition; these are the latest ones. */
  #countEnds(passes: (endMs: number) => boolean): number {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(this.#ends[middle] ?? 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isNearer(one: TraceRow, other: TraceRow): boolean {
  const difference = lengthOf(one) - lengthOf(other);
  return difference < 0 || (difference === 0 && one.startTimeMs < other.startTimeMs);
}

function lengthOf(row: TraceRow): number {
  return endOf(row) - row.startTimeMs;
}
