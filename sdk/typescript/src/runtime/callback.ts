/** Calls a function of the application. Its exceptions and rejections are ignored: delivery does not depend on it. */
export function callSafely(callback: () => unknown): void {
  try {
    ignoreRejection(callback());
  } catch {
    // As documented.
  }
}

/** An `async` function in the place of a synchronous one: its rejection must not end the process. */
export function ignoreRejection(result: unknown): void {
  if (typeof result !== 'object' || result === null || !('then' in result)) return;
  Promise.resolve(result).catch(() => {});
}
