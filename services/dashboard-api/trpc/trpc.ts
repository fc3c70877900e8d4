import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { Role } from '../../../lib/accounts/role.ts';
import { withTimeout } from '../../../lib/timeout.ts';
import { actorOf, requireRole, requireRoleSomewhere, requireSignedIn } from '../access.ts';
import { confirmationTtlMs, dashboardCallTimeoutMs } from '../limits.ts';
import { liveDurationMsMax, livePingMs, liveSilenceMsMax } from '../live/limits.ts';
import type { Context } from './context.ts';
import { classifyFailure, unavailable } from './failure.ts';
import { publicMessage } from './public-message.ts';

/**
 * Who may call a procedure: everybody, whoever is signed in, or who has at least this role in the space of the call. Every
 * procedure has it from its builder below; docs/dashboard-procedures.md and the tests of access are made from it.
 */
export type Access = 'everybody' | 'signed in' | Role | `${Role} of any space`;

export interface ProcedureMeta {
  access: Access;
  /** Whether its changes need a session that authenticated within `confirmationTtlMs`. */
  isConfirmed?: boolean;
}

const t = initTRPC
  .context<Context>()
  .meta<ProcedureMeta>()
  .create({
    isDev: false,
    sse: {
      maxDurationMs: liveDurationMsMax,
      ping: { enabled: true, intervalMs: livePingMs },
      client: { reconnectAfterInactivityMs: liveSilenceMsMax },
    },
    errorFormatter: ({ shape, error }) => ({
      code: shape.code,
      message: publicMessage(error),
      data: { code: shape.data.code, httpStatus: shape.data.httpStatus, path: shape.data.path },
    }),
  });

export const router = t.router;

/**
 * Needs no session. Bounded in time; mutations are rejected when a page of another site sends them.
 *
 * The whole input is read first: a client that sends half a body and waits is checked when the rest has come, not before.
 */
export const publicProcedure = t.procedure
  .meta({ access: 'everybody' })
  .use(async ({ getRawInput, next }) => {
    await getRawInput();
    return next();
  })
  .use(async ({ next }) => {
    // `next` returns the call's own errors in its result: only the time-out is thrown.
    const result = await withTimeout(dashboardCallTimeoutMs, next()).catch((late: unknown) => {
      throw unavailable(late);
    });
    return result.ok ? result : { ...result, error: classifyFailure(result.error) };
  })
  .use(({ ctx, type, next }) => {
    if (type === 'mutation' && ctx.request.isCrossSite) {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'This request comes from another site.' });
    }
    return next();
  });

/** @throws TRPCError FORBIDDEN with SSO_REQUIRED: nobody uses a password then. */
export function requirePasswords({ arePasswordsAllowed }: Pick<Context, 'arePasswordsAllowed'>): void {
  if (arePasswordsAllowed) return;
  throw new TRPCError({ code: 'FORBIDDEN', message: 'Passwords are switched off: use single sign-on.' });
}

/** Needs a session. */
export const userProcedure = publicProcedure.meta({ access: 'signed in' }).use(async ({ ctx, next }) => {
  const user = requireSignedIn(await ctx.findUser());
  return next({ ctx: { user, actor: actorOf(user, ctx.request.address) } });
});

/** Needs at least this role in one of the user's spaces. */
export function anySpaceProcedure(least: Role) {
  return userProcedure.meta({ access: `${least} of any space` }).use(({ ctx, next }) => {
    requireRoleSomewhere(ctx.user, least);
    return next({ ctx: { actor: actorOf(ctx.user, ctx.request.address, { role: { least } }) } });
  });
}

const spaceInput = z
  .object({
    /** Optional for a user of exactly one space, and after `spaces.switch`. */
    spaceId: z.guid().toLowerCase().optional(),
  })
  .prefault({});

/**
 * Needs at least this role in the space that the input names. Adds the space's SpaceStore and SpaceAdmin to the context. A
 * space that the user is not a member of is answered like one that does not exist.
 *
 * @param isConfirmed whether the statement of its change needs a session that authenticated within `confirmationTtlMs`: every
 *   mutation that widens who may read the space's data or send events.
 */
export function spaceProcedure(least: Role, { isConfirmed = false }: { isConfirmed?: boolean } = {}) {
  return userProcedure
    .meta({ access: least, isConfirmed })
    .input(spaceInput)
    .use(({ ctx, input, next, type, signal }) => {
      const { spaceId, role } = requireRole(ctx.user, input.spaceId, least);
      const { userId } = ctx.user;
      const actor = actorOf(ctx.user, ctx.request.address, {
        role: { spaceId, least },
        ...(isConfirmed && { authenticatedWithinMs: confirmationTtlMs }),
      });
      // A change that has begun is made, also where its client leaves.
      const leaves = type === 'mutation' ? undefined : endOfCall(signal);
      return next({
        ctx: {
          ...{ actor, role, admin: ctx.openSpaceAdmin(spaceId, actor) },
          space: ctx.openSpace({ spaceId, userId, signal: leaves }),
        },
      });
    });
}

/** Aborted when the client leaves, and when it got 503 because the call took too long. */
function endOfCall(signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(dashboardCallTimeoutMs);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}
