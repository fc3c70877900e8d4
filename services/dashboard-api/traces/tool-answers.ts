import { endOf, type TraceRow } from './trace-events.ts';

/**
 * Matches each tool call with the tool's next free event in the thread after the LLM event ended, in
 * logarithmic time, because clients choose the number of calls.
 * @param rows in time order. @returns pairs of ids: the tool event and the LLM event.
 */
export function* matchToolCalls(
  rows: readonly TraceRow[],
  toolCalls: ReadonlyMap<string, readonly string[]>,
): Generator<[id: string, callerId: string]> {
  const threadOf = ({ agentGroupId, threadId }: TraceRow) => JSON.stringify([agentGroupId, threadId]);
  const tools = rows.filter(({ type }) => type === 'tool');
  const threads = new Map(
    Map.groupBy(tools, threadOf)
      .entries()
      .map(([thread, own]) => [thread, openAnswers(own)]),
  );
  for (const row of rows) {
    const names = toolCalls.get(row.id) ?? [];
    const answers = names.length > 0 ? threads.get(threadOf(row)) : undefined;
    if (answers === undefined) continue;
    for (const name of names) {
      const answer = answers.get(name)?.takeFrom(endOf(row));
      if (answer !== undefined) yield [answer.id, row.id];
    }
  }
}

function openAnswers(rows: readonly TraceRow[]): Map<string, FreeRows> {
  const byName = Map.groupBy(rows, ({ name }) => name ?? '');
  return new Map(byName.entries().map(([name, own]) => [name, new FreeRows(own)]));
}

/** Events in time order, each of which can be taken once. */
class FreeRows {
  readonly #rows: readonly TraceRow[];
  /** A free row's own index, otherwise one to continue the search from; paths are compressed. */
  readonly #next: number[];

  constructor(rows: readonly TraceRow[]) {
    this.#rows = rows;
    this.#next = Array.from({ length: rows.length + 1 }, (_, place) => place);
  }

  takeFrom(startMs: number): TraceRow | undefined {
    const place = this.#findFree(this.#findStart(startMs));
    const row = this.#rows[place];
    if (row !== undefined) this.#next[place] = place + 1;
    return row;
  }

  #findStart(startMs: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle]?.startTimeMs ?? 0) < startMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #findFree(from: number): number {
    let place = from;
    for (let next = this.#next[place]; next !== undefined && next !== place; next = this.#next[place]) {
      this.#next[place] = this.#next[next] ?? next;
      place = next;
    }
    return place;
  }
}
