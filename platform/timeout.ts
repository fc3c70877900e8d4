/** A promise did not settle in time. Its operation may still complete. */
export class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/** @throws TimeoutError when the promise takes longer. */
export async function withTimeout<T>(timeoutMs: number, promise: PromiseLike<T>): Promise<T> {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => expired.reject(new TimeoutError(`no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([promise, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}
