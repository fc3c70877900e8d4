import { TRPCError } from '@trpc/server';

/**
 * The error with which a call is refused.
 *
 * @param message for the client, a sentence.
 * @param cause for the log.
 */
export function refusal(code: TRPCError['code'], message: string, cause?: unknown): TRPCError {
  return new TRPCError({ code, message, cause });
}
