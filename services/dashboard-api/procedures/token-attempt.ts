import { networkOf } from '../accounts/client-address.ts';
import { refusal } from '../refusal.ts';
import type { Context } from '../trpc/context.ts';

/**
 * Runs a call that takes the token of a link. Calls with an invalid token, for which `call` returns undefined, are limited by network
 * address.
 *
 * @throws TRPCError TOO_MANY_REQUESTS
 */
export async function attemptToken<T>(
  { tokenAttempts, request }: Context,
  call: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const network = networkOf(request.address);
  if (!tokenAttempts.take(network)) {
    throw refusal('TOO_MANY_REQUESTS', 'Too many attempts. Try again in 15 minutes.');
  }
  const result = await call();
  if (result !== undefined) tokenAttempts.giveBack(network);
  return result;
}
