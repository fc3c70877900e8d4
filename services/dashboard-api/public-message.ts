import type { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** Most mistakes of an input that an answer names. */
const mistakesMax = 3;

/** What a client is told of an error: what was written for it, and nothing of what was not foreseen. */
export function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'Something went wrong on our side.';
  if (!(error.cause instanceof z.ZodError)) return error.message;
  return error.cause.issues
    .slice(0, mistakesMax)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ');
}
