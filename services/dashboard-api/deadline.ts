/**
 * Waits for some work, but not longer than a time. The work itself goes on: what it holds must have bounds of its own.
 *
 * @throws what `onLate` makes, when the work took too long.
 */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number, onLate: () => Error): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(onLate()), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
