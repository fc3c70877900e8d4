import { TRPCError } from '@trpc/server';
import type { Context } from '../trpc/context.ts';

/**
 * Runs a call that takes the token of a link. Calls with a wrong token, for which `call` returns undefined, are limited by
 * network address.
 *
 * @throws TRPCError TOO_MANY_REQUESTS
 */
export async function attemptToken<T>(
  { tokenAttempts, request: { address } }: Context,
  call: () => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!tokenAttempts.take(address)) {
    throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'Too many tries. Wait a quarter of an hour.' });
  }
  const result = await call();
  if (result !== undefined) tokenAttempts.giveBack(address);
  return result;
}
