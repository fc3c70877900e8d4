import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { retentionDaysMax } from '../../../../platform/config/limits.ts';
import { roles } from '../../../../store/accounts/role.ts';
import type { Space } from '../../../../store/accounts/spaces.ts';
import type { RetentionPreview } from '../../../../store/retention/retention-preview.ts';
import { anySpaceProcedure, router, spaceProcedure, userProcedure } from '../../trpc/trpc.ts';
import { name } from '../account-inputs.ts';
import { ownSpace, showOwnSpace } from '../me.ts';

const shownSpace = z
  .object({
    id: z.guid(),
    name: z.string(),
    /** Events per month; null is unlimited. */
    monthlyEventLimit: z.number().nullable(),
    billingState: z.enum(['active', 'inactive']),
    createdAt: z.iso.datetime(),
    /** Days for which events are kept; null keeps them forever. */
    retentionDays: z.number().nullable(),
    plan: z.string().nullable(),
    /** When it will be deleted; null for a space that is not marked as deleted. */
    deleteAt: z.iso.datetime().nullable(),
  } satisfies Record<keyof Space, z.ZodType>)
  .meta({ id: 'Space' });

const retentionInput = z.object({
  /** Null keeps events forever, or for RETENTION_DAYS_MAX. */
  retentionDays: z.int().min(1).max(retentionDaysMax).nullable(),
});

const retentionPreview = z
  .object({
    /** The retention or RETENTION_DAYS_MAX, whichever is shorter; null: events are kept forever. */
    effectiveDays: z.number().nullable(),
    /** Events received before this time would be deleted. */
    cutoff: z.iso.datetime().nullable(),
    events: z.number(),
    /** When the oldest of them was received. */
    oldest: z.iso.datetime().nullable(),
  } satisfies Record<keyof RetentionPreview, z.ZodType>)
  .meta({ id: 'RetentionPreview' });

export const spaces = router({
  /** The user's spaces with the role in each. */
  list: userProcedure.output(z.array(ownSpace)).query(({ ctx }) => ctx.user.spaces.map(showOwnSpace)),

  /** The space with the settings of its operator: plan, limit, billing state and retention. */
  get: spaceProcedure('viewer', { isStatistics: true })
    .output(shownSpace.extend({ role: z.enum(roles) }))
    .query(async ({ ctx }) => {
      const space = await ctx.admin.readSpace();
      if (space === undefined) throw noSuchSpace();
      return { ...showSpace(space), role: ctx.role };
    }),

  /** Creates a space with the user as owner. Its limit is the operator's NEW_SPACE_MONTHLY_EVENTS. */
  create: anySpaceProcedure('owner')
    .input(z.object({ name }))
    .output(z.object({ spaceId: z.guid() }))
    .mutation(async ({ ctx, input }) => {
      const spaceId = await ctx.createSpace(input.name, ctx.actor);
      if (spaceId !== undefined) return { spaceId };
      throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'You own too many spaces.' });
    }),

  rename: spaceProcedure('admin')
    .input(z.object({ name }))
    .output(shownSpace)
    .mutation(async ({ ctx, input }) => {
      const space = await ctx.admin.rename(input.name);
      if (space === undefined) throw noSuchSpace();
      return showSpace(space);
    }),

  /** What a retention would delete now. Changes nothing. */
  previewRetention: spaceProcedure('admin')
    .input(retentionInput)
    .output(retentionPreview)
    .query(async ({ ctx, input }) => {
      const { cutoff, oldest, ...preview } = await ctx.admin.previewRetention(input.retentionDays);
      return {
        ...preview,
        cutoff: cutoff?.toISOString() ?? null,
        oldest: oldest?.toISOString() ?? null,
      };
    }),

  /** Sets the retention. Expired events are deleted permanently within minutes. */
  setRetention: spaceProcedure('owner', { isConfirmed: true })
    .input(retentionInput)
    .output(shownSpace)
    .mutation(async ({ ctx, input }) => {
      const space = await ctx.admin.setRetention(input.retentionDays);
      if (space === undefined) throw noSuchSpace();
      return showSpace(space);
    }),

  /**
   * Marks the space as deleted. Its keys are refused and its data cannot be read from now on; after a day everything of it is deleted
   * for good.
   */
  delete: spaceProcedure('owner', { isConfirmed: true })
    .input(
      z.object({
        /** The name of the space, typed by the user. */
        name: z.string(),
      }),
    )
    .output(shownSpace)
    .mutation(async ({ ctx, input }) => {
      const current = await ctx.admin.readSpace();
      if (current === undefined) throw noSuchSpace();
      if (current.name !== input.name)
        throw new TRPCError({ code: 'BAD_REQUEST', message: 'name: must be the name of the space.' });
      const space = await ctx.admin.deleteSpace();
      if (space === undefined) throw noSuchSpace();
      return showSpace(space);
    }),

  /** Takes the deletion of the space back, until it begins: keys and members have their access again. */
  restore: spaceProcedure('owner', { isConfirmed: true, isOfDeleted: true })
    .output(shownSpace)
    .mutation(async ({ ctx }) => {
      const space = await ctx.admin.restoreSpace();
      if (space !== undefined) return showSpace(space);
      throw new TRPCError({
        code: 'CONFLICT',
        message: 'The space is not marked as deleted, or its deletion has begun.',
      });
    }),

  /** Selects the space for calls without a `spaceId` in this session. */
  switch: spaceProcedure('viewer', { isOfDeleted: true })
    .output(z.void())
    .mutation(async ({ ctx }) => {
      await ctx.sessionList.switchSpace(ctx.user.sessionId, ctx.space.spaceId);
    }),
});

function showSpace({ createdAt, deleteAt, ...space }: Space) {
  return { ...space, createdAt: createdAt.toISOString(), deleteAt: deleteAt?.toISOString() ?? null };
}

function noSuchSpace(): TRPCError {
  return new TRPCError({ code: 'NOT_FOUND', message: 'There is no such space.' });
}
