import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { withTimeout } from '../../../platform/timeout.ts';
import { isAnnotationKey } from '../../../store/accounts/api-key.ts';
import type { Role } from '../../../store/accounts/role.ts';
import {
  actorOf,
  requireRole,
  requireRoleSomewhere,
  requireScope,
  requireSession,
  requireSignedIn,
} from '../access.ts';
import { confirmationTtlMs } from '../accounts/limits.ts';
import type { SpaceUser } from '../accounts/session.ts';
import { dashboardCallTimeoutMs } from '../limits.ts';
import { liveDurationMsMax, livePingMs, liveSilenceMsMax } from '../live/limits.ts';
import { refusal } from '../refusal.ts';
import { letOthersRun } from '../slices.ts';
import type { Context } from './context.ts';
import { classifyFailure, publicMessage, unavailable } from './failure.ts';

/** Callers of a procedure; a role is one in the call's space. Documents and access tests come from it. */
export type Access = 'everybody' | 'signed in' | 'operator' | Role | `${Role} of any space`;

export interface ProcedureMeta {
  access: Access;
  /** Whether its changes need a session that authenticated within `confirmationTtlMs`. */
  isConfirmed?: boolean;
  /** Whether it also works in a space that is marked as deleted. */
  isOfDeleted?: boolean;
  /** Whether the scope `statistics` suffices: it returns counts, costs and prices, and no event. */
  isStatistics?: boolean;
  /**
   * Whether keys with the scope `annotation` may call it: it adds notes, and returns nothing of the space.
   */
  isAnnotation?: boolean;
  /** Whether it signs in: then its answer does not wait for the control stream. */
  isSignIn?: boolean;
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
 * Requires no session, limits time, and rejects mutations by pages of other sites, once the input is read.
 */
export const publicProcedure = t.procedure
  .meta({ access: 'everybody' })
  .use(async ({ getRawInput, next }) => {
    await getRawInput();
    return next();
  })
  .use(async ({ next }) => {
    // `next` returns the call's own errors in its result, so only the time-out is thrown.
    const result = await withTimeout(dashboardCallTimeoutMs, next()).catch((late: unknown) => {
      throw unavailable(late);
    });
    // Validating and serializing a large output take some 80 ms each: others are served in between.
    await letOthersRun();
    return result.ok ? result : { ...result, error: classifyFailure(result.error) };
  })
  .use(({ ctx, type, meta, next }) => {
    if (type === 'mutation' && ctx.request.isCrossSite) {
      throw refusal('FORBIDDEN', 'This request comes from another site.');
    }
    const { readKey } = ctx.request;
    const mayAdd = meta?.isAnnotation === true && readKey !== undefined && isAnnotationKey(readKey);
    if (type === 'mutation' && readKey !== undefined && !mayAdd) {
      throw refusal('FORBIDDEN', 'A read key cannot change anything.');
    }
    return next();
  })
  .use(async ({ ctx, type, meta, next }) => {
    const result = await next();
    if (type === 'mutation' && result.ok && meta?.isSignIn !== true) await ctx.relayChanges();
    return result;
  });

export const signInProcedure = publicProcedure.meta({ access: 'everybody', isSignIn: true });

/** @throws TRPCError FORBIDDEN with SSO_REQUIRED, which disables passwords. */
export function requirePasswords({ arePasswordsAllowed }: Pick<Context, 'arePasswordsAllowed'>): void {
  if (arePasswordsAllowed) return;
  throw refusal('FORBIDDEN', 'Passwords are switched off: use single sign-on.');
}

/** @throws TRPCError FORBIDDEN for a read key, which has no user; UNAUTHORIZED when it is not valid. */
async function refuseReadKey(ctx: Context): Promise<void> {
  if (ctx.request.readKey === undefined) return;
  await ctx.findReadKey();
  throw refusal('FORBIDDEN', 'This needs a signed-in user. A read key only reads its space.');
}

/** Requires a session, also of a user who still has to add a second factor. A read key has no user. */
export const enrolleeProcedure = publicProcedure.meta({ access: 'signed in' }).use(async ({ ctx, next }) => {
  await refuseReadKey(ctx);
  const user = requireSession(await ctx.findUser());
  return next({ ctx: { user, actor: actorOf(user, ctx.request.address) } });
});

export const userProcedure = enrolleeProcedure.use(({ ctx, next }) => {
  requireSignedIn(ctx.user);
  return next();
});

/** Requires an operator; while Postgres is away one whom it confirmed some minutes ago. Changes nothing. */
export const operatorProcedure = publicProcedure.meta({ access: 'operator' }).use(async ({ ctx, next }) => {
  await refuseReadKey(ctx);
  await ctx.operators.require(ctx.request.token, ctx.findUser);
  return next();
});

/** Requires at least this role in one of the user's spaces. */
export function anySpaceProcedure(least: Role) {
  return userProcedure.meta({ access: `${least} of any space` }).use(({ ctx, next }) => {
    requireRoleSomewhere(ctx.user, least);
    return next({ ctx: { actor: actorOf(ctx.user, ctx.request.address, { role: { least } }) } });
  });
}

const spaceInput = z
  .object({
    /** Optional for a user with exactly one space, and after `spaces.switch`. */
    spaceId: z.guid().toLowerCase().optional(),
  })
  .prefault({});

/**
 * Requires at least this role in the space named by the input, and adds its SpaceData and SpaceAdmin to the
 * context. A space of others is answered like one that does not exist. Queries and subscriptions accept a
 * read key of the space, mutations never (publicProcedure); the one that adds notes accepts a key that does
 * nothing else.
 * @param isConfirmed whether the statement of the change requires a session that authenticated within
 * `confirmationTtlMs`: for every mutation that lets more people read the space's data or send events.
 */
export function spaceProcedure(
  least: Role,
  {
    isConfirmed = false,
    isStatistics = false,
    isOfDeleted = false,
    isAnnotation = false,
  }: Pick<ProcedureMeta, 'isConfirmed' | 'isStatistics' | 'isOfDeleted' | 'isAnnotation'> = {},
) {
  return publicProcedure
    .meta({ access: least, isConfirmed, isStatistics, isOfDeleted, isAnnotation })
    .use(async ({ ctx, next }) => {
      const { readKey } = ctx.request;
      const user: SpaceUser =
        readKey === undefined
          ? requireSignedIn(await ctx.findUser())
          : await (isAnnotation ? ctx.findAnnotator(readKey) : ctx.findReadKey());
      return next({ ctx: { user } });
    })
    .input(spaceInput)
    .use(({ ctx, input, next, type, signal }) => {
      const { user } = ctx;
      const { spaceId, role } = requireRole(user, { spaceId: input.spaceId, least, isOfDeleted });
      requireScope(user, { isStatistics });
      const { holderId } = user;
      const actor = actorOf(user, ctx.request.address, {
        role: { spaceId, least, isOfDeleted },
        ...(isConfirmed && { authenticatedWithinMs: confirmationTtlMs }),
      });
      // A mutation that has begun is completed even if its client disconnects.
      const leaves = type === 'mutation' ? undefined : endOfCall(signal);
      return next({
        ctx: {
          actor,
          role,
          admin: ctx.openSpaceAdmin(spaceId, actor),
          space: ctx.openSpace({ spaceId, holderId, signal: leaves }),
        },
      });
    });
}

/** Aborted when the client disconnects, or when the slow call was answered with 503. */
function endOfCall(signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(dashboardCallTimeoutMs);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}
