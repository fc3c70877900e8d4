import { TRPCError } from '@trpc/server';
import { downloadsMax, downloadsPerSpaceMax, downloadsPerUserMax } from './limits.ts';

/** Counts running downloads by user, by space and in total, so that one user or space cannot use all slots. */
export class DownloadSlots {
  readonly #counts = new Map<string, number>();

  /** @throws TRPCError TOO_MANY_REQUESTS when a limit is reached; its message says which. */
  take(userId: string, spaceId: string): Disposable {
    const limits: [key: string, max: number, whose: string][] = [
      [`user ${userId}`, downloadsPerUserMax, 'You have'],
      [`space ${spaceId}`, downloadsPerSpaceMax, 'The space has'],
      ['all', downloadsMax, 'The server has'],
    ];
    for (const [key, max, whose] of limits) {
      if (this.#countOf(key) < max) continue;
      throw new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: `${whose} ${max} downloads running. Try again when one has ended.`,
      });
    }
    const add = (change: number) => {
      for (const [key] of limits) {
        const count = this.#countOf(key) + change;
        if (count === 0) this.#counts.delete(key);
        else this.#counts.set(key, count);
      }
    };
    add(1);
    return { [Symbol.dispose]: () => add(-1) };
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}
