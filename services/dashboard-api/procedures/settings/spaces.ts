import { z } from 'zod';
import { storableText } from '../../../../event/text.ts';
import { deleteSpace, restoreSpace } from '../../../../operations/erasure-requests/space-deletion.ts';
import { retentionDaysMax } from '../../../../platform/limits.ts';
import { isoTimes } from '../../../../platform/time.ts';
import { roles } from '../../../../store/accounts/role.ts';
import { changeSpace, readSpace, type Space } from '../../../../store/accounts/spaces.ts';
import { previewRetention, type RetentionPreview } from '../../../../store/retention/retention-preview.ts';
import { attributeDimensionsMax, dimensionKeyCharsMax } from '../../../../store/write/limits.ts';
import { attributePrefix } from '../../../../store/write/statistics/space-dimensions.ts';
import { refusal } from '../../refusal.ts';
import { anySpaceProcedure, router, spaceProcedure, userProcedure } from '../../trpc/trpc.ts';
import { name } from '../account-inputs.ts';
import { ownSpace } from '../me.ts';

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
    /** The end of the grace; null for a space that is not marked as deleted. */
    deleteAt: z.iso.datetime().nullable(),
    /** What statistics are kept by besides type, name and source: `user`, `agent`, `attr.KEY`. */
    dimensions: z.array(z.string()),
  } satisfies Record<keyof Space, z.ZodType>)
  .meta({ id: 'Space' });

const attributeKey = z.string().min(1).max(dimensionKeyCharsMax);

const retentionInput = z.object({
  /** Null keeps events forever, or for RETENTION_DAYS_MAX. */
  retentionDays: z.int().min(1).max(retentionDaysMax).nullable(),
});

const retentionPreview = z
  .object({
    /** The shorter of the retention and RETENTION_DAYS_MAX; null: events are kept forever. */
    effectiveDays: z.number().nullable(),
    /** Events received before this time would be deleted. */
    cutoff: z.iso.datetime().nullable(),
    events: z.number(),
    /** When the oldest of them was received; null when there is none. */
    oldest: z.iso.datetime().nullable(),
  } satisfies Record<keyof RetentionPreview, z.ZodType>)
  .meta({ id: 'RetentionPreview' });

export const spaces = router({
  list: userProcedure.output(z.array(ownSpace)).query(({ ctx }) => ctx.user.spaces.map(isoTimes)),

  /** The space with the settings of its operator: plan, limit, billing state and retention. */
  get: spaceProcedure('viewer', { isStatistics: true })
    .output(shownSpace.extend({ role: z.enum(roles) }))
    .query(async ({ ctx: { admin, role } }) => ({
      ...showSpace(await readSpace(admin.database, admin.spaceId)),
      role,
    })),

  /** The user is the owner. The limit is the operator's NEW_SPACE_MONTHLY_EVENTS. */
  create: anySpaceProcedure('owner')
    .input(z.object({ name }))
    .output(z.object({ spaceId: z.guid() }))
    .mutation(async ({ ctx, input }) => {
      const spaceId = await ctx.createSpace(input.name, ctx.actor);
      if (spaceId !== undefined) return { spaceId };
      throw refusal('TOO_MANY_REQUESTS', 'You own too many spaces.');
    }),

  rename: spaceProcedure('admin')
    .input(z.object({ name }))
    .output(shownSpace)
    .mutation(async ({ ctx: { admin, actor }, input: { name } }) =>
      showSpace(await changeSpace(admin.database, admin.spaceId, { name, actor })),
    ),

  /** What a retention would delete now. */
  previewRetention: spaceProcedure('admin')
    .input(retentionInput)
    .output(retentionPreview)
    .query(async ({ ctx: { admin }, input: { retentionDays } }) => {
      const rule = { retentionDays, nowMs: Date.now(), retentionDaysMax: admin.retentionDaysMax };
      return isoTimes(await previewRetention(admin.database, admin.spaceId, rule));
    }),

  /** Expired events are deleted permanently within minutes. */
  setRetention: spaceProcedure('owner', { isConfirmed: true })
    .input(retentionInput)
    .output(shownSpace)
    .mutation(async ({ ctx: { admin, actor }, input: { retentionDays } }) =>
      showSpace(await changeSpace(admin.database, admin.spaceId, { retentionDays, actor })),
    ),

  /**
   * What statistics are kept by, besides type, name and source. A writer follows within seconds, counts what
   * is stored, and deletes other dimensions. `charts.dimensions` says how far it is.
   */
  setDimensions: spaceProcedure('admin')
    .input(
      z.object({
        dimensions: z
          .array(z.union([z.enum(['user', 'agent']), z.templateLiteral([attributePrefix, attributeKey])]))
          .refine((names) => new Set(names).size === names.length, 'must not repeat a dimension')
          .refine(
            (names) =>
              names.filter((name) => name.startsWith(attributePrefix)).length <= attributeDimensionsMax,
            `must have at most ${attributeDimensionsMax} additional properties`,
          ),
      }),
    )
    .output(shownSpace)
    .mutation(async ({ ctx: { admin, actor }, input }) =>
      showSpace(
        await changeSpace(admin.database, admin.spaceId, {
          dimensions: input.dimensions.map(storableText),
          actor,
        }),
      ),
    ),

  /** Keys are refused and data cannot be read from now on; after a day everything is deleted for good. */
  delete: spaceProcedure('owner', { isConfirmed: true })
    .input(
      z.object({
        /** The name of the space, typed by the user. */
        name: z.string(),
      }),
    )
    .output(shownSpace)
    .mutation(async ({ ctx: { admin, actor }, input: { name } }) => {
      const current = showSpace(await readSpace(admin.database, admin.spaceId));
      if (current.name !== name) throw refusal('BAD_REQUEST', 'name: must be the name of the space.');
      return showSpace(await deleteSpace(admin.database, admin.spaceId, { actor }));
    }),

  /** Takes the deletion of the space back, until it begins: keys and members have their access again. */
  restore: spaceProcedure('owner', { isConfirmed: true, isOfDeleted: true })
    .output(shownSpace)
    .mutation(async ({ ctx: { admin, actor } }) => {
      const space = await restoreSpace(admin.database, admin.spaceId, actor);
      if (space !== undefined) return isoTimes(space);
      throw refusal('CONFLICT', 'The space is not marked as deleted, or its deletion has begun.');
    }),

  /** Selects the space for calls without a `spaceId` in this session. */
  switch: spaceProcedure('viewer', { isOfDeleted: true })
    .output(z.void())
    .mutation(async ({ ctx }) => {
      await ctx.sessionList.switchSpace(ctx.user.sessionId, ctx.space.spaceId);
    }),
});

/** @throws TRPCError NOT_FOUND for a space that was deleted meanwhile. */
function showSpace(space: Space | undefined) {
  if (space !== undefined) return isoTimes(space);
  throw refusal('NOT_FOUND', 'There is no such space.');
}
