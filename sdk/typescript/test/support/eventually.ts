import { vi } from 'vitest';

/** Waits until a check passes. Long enough for a machine that runs other tests, too. */
export function eventually<T>(check: () => T | Promise<T>, timeout = 30_000): Promise<T> {
  return vi.waitFor(check, { timeout, interval: 10 });
}
