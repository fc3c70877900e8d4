import type { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** Limit of the validation errors that a response lists. */
const mistakesMax = 3;

/** The message sent to the client: the error's own if it was written for clients, a general one for an unexpected error. */
export function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'An internal error occurred.';
  if (!(error.cause instanceof z.ZodError)) return error.message;
  return error.cause.issues
    .slice(0, mistakesMax)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ');
}
