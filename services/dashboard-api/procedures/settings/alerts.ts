import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { instant } from '../../../../platform/instant.ts';
import { isEmail } from '../../../../store/accounts/email.ts';
import { emailCharsMax } from '../../../../store/accounts/limits.ts';
import {
  addressCharsMax,
  eventWindowMinutesMax,
  targetsOfRuleMax,
  testsPerMinuteMax,
} from '../../alerts/limits.ts';
import type { ListedTarget } from '../../alerts/targets.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';
import { name } from '../account-inputs.ts';
import { condition, historyRow, listedRule, listedTarget, preview } from './alert-shapes.ts';

const id = z.object({ id: z.guid() });

/** Alerts on the statistics of the space (docs/alerts.md). */
export const alerts = router({
  list: spaceProcedure('viewer')
    .output(z.array(listedRule))
    .query(async ({ ctx }) =>
      (await ctx.admin.alerts.listRules()).map(
        ({ since, mutedUntil, evaluatedUntil, targetIds, ...rule }) => ({
          ...rule,
          targetIds: [...targetIds],
          since: since.toISOString(),
          mutedUntil: mutedUntil?.toISOString() ?? null,
          evaluatedUntil: evaluatedUntil.toISOString(),
        }),
      ),
    ),

  /** The last changes of alerts, newest first, with the outcome of their deliveries. */
  history: spaceProcedure('viewer')
    .output(z.array(historyRow))
    .query(async ({ ctx }) =>
      (await ctx.admin.alerts.history()).map(({ at, deliveries, ...row }) => ({
        ...row,
        at: at.toISOString(),
        deliveries: [...deliveries],
      })),
    ),

  /** When the rule would have fired in the last week (by an additional property: in the last hours, if there are many events), in steps of at least five minutes. Changes nothing. */
  preview: spaceProcedure('admin')
    .input(condition)
    .output(preview)
    .query(async ({ ctx, input: { spaceId: _space, ...rule } }) => {
      requireMeasurable(rule);
      const { fired, ...rest } = await ctx.admin.alerts.preview(rule);
      return { ...rest, fired: [...fired] };
    }),

  /** Creates a rule, or replaces the one with this id, which then starts without an alert. */
  save: spaceProcedure('admin')
    .input(
      condition.extend({
        id: z.guid().optional(),
        name,
        targetIds: z.array(z.guid()).max(targetsOfRuleMax).default([]),
      }),
    )
    .output(id)
    .mutation(async ({ ctx, input: { spaceId: _space, id: changed, ...rule } }) => {
      requireMeasurable(rule);
      const saved = await ctx.admin.alerts.saveRule(changed, rule);
      if (saved === 'too_many')
        throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'The space has too many alerts.' });
      if (saved === 'no_rule') throw missing('alert');
      if (saved === 'no_target') throw missing('target');
      return { id: saved };
    }),

  remove: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      if (!(await ctx.admin.alerts.removeRule(input.id))) throw missing('alert');
    }),

  /** Sends nothing until then; null ends it. */
  mute: spaceProcedure('admin')
    .input(id.extend({ until: instant.nullable() }))
    .output(z.void())
    .mutation(async ({ ctx, input: { id: muted, until } }) => {
      const at = until === null ? null : new Date(until);
      if (!(await ctx.admin.alerts.muteRule(muted, at))) throw missing('alert');
    }),

  /** Where alerts are sent, and what the operator has configured. */
  targets: spaceProcedure('admin')
    .output(z.object({ targets: z.array(listedTarget), hasMail: z.boolean(), isPrivateAllowed: z.boolean() }))
    .query(async ({ ctx }) => {
      const { hasMail, isPrivateAllowed } = ctx.admin.alerts;
      return { targets: await ctx.admin.alerts.listTargets(), hasMail, isPrivateAllowed };
    }),

  /** Adds a target. The secret of a webhook is only returned here. */
  createTarget: spaceProcedure('admin', { isConfirmed: true })
    .input(
      z.object({
        name,
        kind: z.enum(['slack', 'email', 'webhook']),
        /** A URL, or an e-mail address. */
        address: z.string().min(1).max(addressCharsMax),
      }),
    )
    .output(z.object({ id: z.guid(), secret: z.string().nullable() }))
    .mutation(async ({ ctx, input: { spaceId: _space, ...target } }) => {
      requireAddress(target, ctx.admin.alerts.isPrivateAllowed);
      const created = await ctx.admin.alerts.createTarget(target);
      if (created !== undefined) return created;
      throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: 'The space has too many targets.' });
    }),

  removeTarget: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      if (!(await ctx.admin.alerts.removeTarget(input.id))) throw missing('target');
    }),

  /** Sends a test message to the target. The history shows the outcome. */
  testTarget: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx, input }) => {
      const failed = await ctx.admin.alerts.testTarget(input.id);
      if (failed === 'no_target') throw missing('target');
      if (failed === 'too_many')
        throw new TRPCError({
          code: 'TOO_MANY_REQUESTS',
          message: `The space has sent ${testsPerMinuteMax} test messages in the last minute. Wait a minute.`,
        });
    }),
});

/** Statistics by agent are separate from those by type, name and source, and have no models. Events have all columns. */
function requireMeasurable({
  kind: measured,
  windowMinutes,
  filter: { agentId, attributeKey, attributeValue, ...others },
}: z.infer<typeof condition>): void {
  if ((attributeKey === undefined) !== (attributeValue === undefined))
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message: 'filter: an additional property has a key and a value.',
    });
  if (attributeKey !== undefined) {
    if (windowMinutes <= eventWindowMinutesMax) return;
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message: `windowMinutes: at most ${eventWindowMinutesMax} with an additional property.`,
    });
  }
  const hasOther = Object.values(others).some((value) => value !== undefined);
  if (agentId === undefined || (!hasOther && measured !== 'cost')) return;
  throw new TRPCError({
    code: 'BAD_REQUEST',
    message: 'filter.agentId: cannot be combined with a model, tool, type or source, or with costs.',
  });
}

function requireAddress(
  { kind: sent, address }: { kind: ListedTarget['kind']; address: string },
  isPrivateAllowed: boolean,
): void {
  if (sent === 'email') {
    if (address.length <= emailCharsMax && isEmail(address.toLowerCase())) return;
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'address: must be an e-mail address' });
  }
  const protocol = URL.parse(address)?.protocol;
  if (protocol === 'https:' || (isPrivateAllowed && protocol === 'http:')) return;
  throw new TRPCError({ code: 'BAD_REQUEST', message: 'address: must begin with https://' });
}

function missing(what: 'alert' | 'target'): TRPCError {
  return new TRPCError({ code: 'NOT_FOUND', message: `There is no such ${what}.` });
}
