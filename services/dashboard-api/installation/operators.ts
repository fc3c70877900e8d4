import { TRPCError } from '@trpc/server';
import { withTimeout } from '../../../platform/timeout.ts';
import { hashToken } from '../../../store/accounts/secret-token.ts';
import { requireSignedIn } from '../access.ts';
import type { SessionUser } from '../accounts/session.ts';
import { refusal } from '../refusal.ts';
import { operatorLookupMs, operatorMemoryMs, rememberedOperatorsMax } from './limits.ts';

/** Checks that a call comes from an operator of the installation. */
export interface Operators {
  /**
   * @param find looks the session of the token up in Postgres.
   * @throws TRPCError UNAUTHORIZED without a session, FORBIDDEN for other users; what `find` throws while Postgres is away.
   */
  require(token: string | undefined, find: () => Promise<SessionUser | undefined>): Promise<void>;
}

/**
 * While Postgres does not answer, sessions that it confirmed within `operatorMemoryMs` are let in: that is when an operator needs the
 * state of the queue. They read the state of the installation only, nothing of a space.
 *
 * @param now the clock, in milliseconds.
 */
export function openOperators(now: () => number): Operators {
  /** When Postgres last confirmed a session, by the hash of its token; the oldest first. */
  const confirmed = new Map<string, number>();
  return {
    async require(token, find) {
      const key = token === undefined ? '' : hashToken(token).toString('hex');
      try {
        const user = requireSignedIn(await withTimeout(operatorLookupMs, find()));
        confirmed.delete(key);
        if (!user.isOperator)
          throw refusal(
            'FORBIDDEN',
            'Only operators of the installation can see this. The command weir user operator makes a user one.',
          );
        confirmed.set(key, now());
        const [oldest] = confirmed.keys();
        if (confirmed.size > rememberedOperatorsMax && oldest !== undefined) confirmed.delete(oldest);
      } catch (error) {
        // A TRPCError is an answer of Postgres: who calls is known, and may not.
        if (error instanceof TRPCError) confirmed.delete(key);
        const sinceMs = now() - (confirmed.get(key) ?? -Infinity);
        if (sinceMs > operatorMemoryMs) throw error;
      }
    },
  };
}
