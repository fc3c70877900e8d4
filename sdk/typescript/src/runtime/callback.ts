/**
 * Calls a callback of the application. Its exceptions and rejections are ignored, because they must not stop
 * delivery.
 */
export function callSafely(callback: () => unknown): void {
  try {
    ignoreRejection(callback());
  } catch {
    // Ignored, see above.
  }
}

/**
 * Ignores the rejection of an `async` function that was passed as a synchronous callback: it must not end the
 * process.
 */
export function ignoreRejection(result: unknown): void {
  Promise.resolve(result).catch(() => {});
}
