import type { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** Limit of the validation errors that a response lists. */
const mistakesMax = 3;

/** The message sent to the client: the error's own if it was written for clients, a general one for an unexpected error. */
export function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'An internal error occurred.';
  const message = error.cause instanceof z.ZodError ? describeMistakes(error.cause) : error.message;
  // Names of members are from the input.
  return message.toWellFormed();
}

function describeMistakes({ issues }: z.ZodError): string {
  return issues
    .slice(0, mistakesMax)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ');
}
