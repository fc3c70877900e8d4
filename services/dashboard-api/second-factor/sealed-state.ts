import type { z } from 'zod';
import type { Seal } from '../seal.ts';

/**
 * State that a browser keeps between two calls, but can neither read nor change. Needs no row in Postgres.
 */
export interface SealedState<State> {
  /** @param context what the state belongs to, such as a session. */
  seal(state: State, context: string): string;
  /** @returns undefined when it is too old, of another context, or was not sealed here. */
  open(text: string, context: string): State | undefined;
}

export function openSealedState<State>(
  seal: Seal,
  { shape, ttlMs, now = Date.now }: { shape: z.ZodType<State>; ttlMs: number; now?: () => number },
): SealedState<State> {
  return {
    seal: (state, context) =>
      seal.seal(JSON.stringify({ state, expiresAt: now() + ttlMs }), context).toString('base64url'),
    open(text, context) {
      const plain = seal.open(Buffer.from(text, 'base64url'), context);
      if (plain === undefined) return undefined;
      const { state, expiresAt } = JSON.parse(plain) as { state: unknown; expiresAt: number };
      if (expiresAt <= now()) return undefined;
      return shape.parse(state);
    },
  };
}
