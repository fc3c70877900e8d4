/** Runs some work when there is room for it, in the order of asking. Its outcome is the work's own. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** Makes a gate that lets so many works run at a time. */
export function openGate(atOnceMax: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A place is handed over below, not freed: nobody who comes meanwhile can take it.
    if (running < atOnceMax) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
