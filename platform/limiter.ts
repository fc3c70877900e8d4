/** Runs a task when a slot is free, in the order of the calls, and settles as the task does. */
export type Limiter = <T>(task: () => Promise<T>) => Promise<T>;

export function openLimiter(atOnceMax: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    // A slot is passed on below, not freed, so that a later call cannot take it.
    if (running < atOnceMax) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
