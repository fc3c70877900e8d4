import { vi } from 'vitest';

/**
 * Waits until a check passes. The default time-out suits a machine that runs other tests at the same time.
 */
export function eventually<T>(check: () => T | Promise<T>, timeout = 30_000): Promise<T> {
  return vi.waitFor(check, { timeout, interval: 10 });
}
