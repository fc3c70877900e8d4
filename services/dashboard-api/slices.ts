import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work before the event loop serves others: far below the 100 ms that no call may hold it. */
const sliceMs = 10;

let lastTurn = Promise.resolve();

/** Lets one waiting call continue in each turn of the loop: ten slices at once would be one long turn. */
export function letOthersRun(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/**
 * Visits in order, and lets the event loop serve others after each {@link sliceMs} and at the end: the
 * caller's next work, such as validating the result, would add to the last slice.
 */
export async function visitInSlices<Item>(
  items: Iterable<Item>,
  visit: (item: Item, place: number) => void,
): Promise<void> {
  let place = 0;
  let startedMs = performance.now();
  for (const item of items) {
    if (performance.now() - startedMs >= sliceMs) {
      await letOthersRun();
      startedMs = performance.now();
    }
    visit(item, place++);
  }
  await letOthersRun();
}

/** Like `items.map`, but lets other work of the event loop run in between. */
export async function mapInSlices<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item, place: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await visitInSlices(items, (item, place) => results.push(map(item, place)));
  return results;
}
