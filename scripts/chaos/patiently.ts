import { setTimeout as sleep } from 'node:timers/promises';

/** Tries again what needs a Postgres that may just have been restarted. @throws its last error after the time. */
export async function patiently<T>(run: () => PromiseLike<T>, timeoutMs = 30_000): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(200);
    }
  }
}
