import { TRPCError } from '@trpc/server';
import { liveStreamsMax, liveStreamsPerSpaceMax, liveStreamsPerUserMax } from './limits.ts';

/** Counts live streams by user and by space. */
export class StreamSlots {
  readonly #counts = new Map<string, number>();

  /** @throws TRPCError TOO_MANY_REQUESTS when a limit is reached; its message says which. */
  take(userId: string, spaceId: string): Disposable {
    const limits: [key: string, max: number, whose: string][] = [
      [`user ${userId}`, liveStreamsPerUserMax, 'This user'],
      [`space ${spaceId}`, liveStreamsPerSpaceMax, 'The space'],
      ['all', liveStreamsMax, 'The server'],
    ];
    for (const [key, max, whose] of limits) {
      if ((this.#counts.get(key) ?? 0) < max) continue;
      throw new TRPCError({
        code: 'TOO_MANY_REQUESTS',
        message: `${whose} has ${max} open live streams. Close one, or try again later.`,
      });
    }
    for (const [key] of limits) this.#add(key, 1);
    return {
      [Symbol.dispose]: () => {
        for (const [key] of limits) this.#add(key, -1);
      },
    };
  }

  #add(key: string, change: number): void {
    const count = (this.#counts.get(key) ?? 0) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
