import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';
import { dashboardCallTimeoutMs } from '../../lib/limits.ts';
import { withTimeout } from '../../lib/timeout.ts';
import type { Context } from './context.ts';
import { classifyFailure, unavailable } from './failure.ts';
import { publicMessage } from './public-message.ts';
import { hasRole, type Role } from './role.ts';

const t = initTRPC.context<Context>().create({
  isDev: false,
  errorFormatter: ({ shape, error }) => ({
    code: shape.code,
    message: publicMessage(error),
    data: { code: shape.data.code, httpStatus: shape.data.httpStatus, path: shape.data.path },
  }),
});

export const router = t.router;

/** For everybody: bounded in time, and closed to pages of other sites where it changes something. */
export const publicProcedure = t.procedure
  .use(async ({ next }) => {
    // What the call itself throws is in its result: only the time-out is thrown here.
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

/** For whoever is signed in. */
export const userProcedure = publicProcedure.use(async ({ ctx, next }) => {
  const visitor = await ctx.findVisitor();
  if (visitor === undefined) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first.' });
  return next({ ctx: { visitor } });
});

const spaceInput = z
  .object({
    /** May be left out by a user of exactly one space. */
    spaceId: z.guid().toLowerCase().optional(),
  })
  .prefault({});

/**
 * For members of the space that the input names, from a role upwards. The space's door is in the context. A space
 * that is not the user's is answered like one that does not exist.
 */
export function spaceProcedure(least: Role) {
  return userProcedure.input(spaceInput).use(({ ctx, input, next }) => {
    const { spaces } = ctx.visitor;
    if (input.spaceId === undefined && spaces.length > 1) {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: 'spaceId: you belong to several spaces, so name one.',
      });
    }
    const space = input.spaceId === undefined ? spaces[0] : spaces.find(({ id }) => id === input.spaceId);
    if (space === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such space.' });
    if (!hasRole(space.role, least)) {
      throw new TRPCError({ code: 'FORBIDDEN', message: `This needs the role ${least} in the space.` });
    }
    return next({ ctx: { door: ctx.openDoor(space.id) } });
  });
}
