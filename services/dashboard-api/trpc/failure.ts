import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { CallerAbortedError, QueueFullError } from '../../../platform/fair-limiter.ts';
import { codeOf, unreachableCodes } from '../../../platform/thrown.ts';
import { TimeoutError } from '../../../platform/timeout.ts';
import { ConfirmationNeededError, GrantLostError } from '../../../store/accounts/audit/grant.ts';
import { isUnreachableNode } from '../../../store/db/layout/node-failure.ts';
import { refusal } from '../refusal.ts';

/** Validation errors that a response lists. */
const mistakesMax = 3;

/** The error's own message if it was written for clients, otherwise a general one. */
export function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'An internal error occurred.';
  const message = error.cause instanceof z.ZodError ? describeMistakes(error.cause) : error.message;
  // Names of members are from the input.
  return message.toWellFormed();
}

function describeMistakes({ issues }: z.ZodError): string {
  return issues
    .slice(0, mistakesMax)
    .map((issue) => describeMistake(issue, []))
    .join('; ');
}

/** A value that may have several shapes is wrong in each of them. */
function describeMistake(issue: z.core.$ZodIssue, around: readonly PropertyKey[]): string {
  const path = [...around, ...issue.path];
  const shapes = issue.code === 'invalid_union' ? issue.errors.flatMap(([first]) => first ?? []) : [];
  if (shapes.length > 0) return shapes.map((shape) => describeMistake(shape, path)).join(', or ');
  const isPattern = issue.code === 'invalid_format' && issue.format === 'template_literal';
  const message = isPattern ? `must match ${issue.pattern}` : issue.message;
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
}

/** Classes of SQLSTATE: connection lost, out of resources, shutting down or starting up. */
const transientState = /^(08|53|57P)[0-9A-Z]+$/;
const queryCanceled = '57014';

/**
 * Values that Postgres cannot represent, which can only come from the input: U+0000 in a text, a character or
 * an escape that its encoding lacks, a number or a time out of range, a malformed UUID.
 */
const unrepresentableStates = new Set(['22021', '22P05', '22003', '22008', '22P02']);

/** The code for a session that authenticated too long ago, and no other: pages then ask for the password. */
export const confirmationNeeded = 'PRECONDITION_REQUIRED';

/**
 * Errors thrown for the client are unchanged. Postgres unreachable is SERVICE_UNAVAILABLE, a slow query
 * GATEWAY_TIMEOUT, a value that Postgres cannot represent BAD_REQUEST, too many waiting calls
 * TOO_MANY_REQUESTS, a session that authenticated too long ago PRECONDITION_REQUIRED. Everything else is
 * INTERNAL_SERVER_ERROR, with details only in the log.
 */
export function classifyFailure(error: TRPCError): TRPCError {
  if (error.code !== 'INTERNAL_SERVER_ERROR') return error;
  if (error.cause instanceof GrantLostError) {
    return refusal(
      'FORBIDDEN',
      'Your session has ended, or you lost the role that this needs. Nothing was changed.',
      error,
    );
  }
  if (error.cause instanceof ConfirmationNeededError) {
    return refusal(
      confirmationNeeded,
      'You signed in too long ago for this change. Confirm your password, or sign in again. Nothing was changed.',
      error,
    );
  }
  if (error.cause instanceof QueueFullError) {
    return refusal(
      'TOO_MANY_REQUESTS',
      'Too many of your calls are waiting. Try again when some have ended.',
      error,
    );
  }
  if (error.cause instanceof CallerAbortedError) {
    return refusal('CLIENT_CLOSED_REQUEST', 'The client disconnected.', error);
  }
  const code = codeOf(error.cause);
  if (code === undefined) return error;
  if (code === queryCanceled) {
    return refusal('GATEWAY_TIMEOUT', 'The query took too long. Narrow the time range.', error);
  }
  if (unrepresentableStates.has(code)) {
    return refusal('BAD_REQUEST', 'The input contains a text, number or time that cannot be stored.', error);
  }
  if (isUnreachableNode(error.cause)) {
    return refusal(
      'SERVICE_UNAVAILABLE',
      'The database node with the data of this space cannot be reached. New events are accepted, and appear when it is back.',
      error,
    );
  }
  return unreachableCodes.has(code) || transientState.test(code) ? unavailable(error) : error;
}

/** Postgres is unreachable, or the call took too long. The same call may succeed later. */
export function unavailable(cause: unknown): TRPCError {
  const text =
    cause instanceof TimeoutError
      ? 'No answer came in time: the database is away or busy. Narrow the time range, or try again.'
      : 'The database cannot be reached. Try again in a moment.';
  return refusal('SERVICE_UNAVAILABLE', text, cause);
}
