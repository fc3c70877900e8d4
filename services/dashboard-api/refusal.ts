import { TRPCError } from '@trpc/server';

/** @param message for the client, a sentence. @param cause for the log. */
export function refusal(code: TRPCError['code'], message: string, cause?: unknown): TRPCError {
  return new TRPCError({ code, message, cause });
}
