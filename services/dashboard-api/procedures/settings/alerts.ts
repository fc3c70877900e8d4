import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { instant } from '../../../../platform/instant.ts';
import { isoTimes } from '../../../../platform/time.ts';
import { isEmail } from '../../../../store/accounts/email.ts';
import { emailCharsMax } from '../../../../store/accounts/limits.ts';
import {
  addressCharsMax,
  eventWindowMinutesMax,
  targetsOfRuleMax,
  testsPerMinuteMax,
} from '../../alerts/limits.ts';
import { alertPreview, previewRule } from '../../alerts/preview.ts';
import { listHistory, listRules, muteRule, removeRule, saveRule } from '../../alerts/rules.ts';
import {
  createTarget,
  type ListedTarget,
  listTargets,
  removeTarget,
  testTarget,
} from '../../alerts/targets.ts';
import { refusal } from '../../refusal.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';
import { name } from '../account-inputs.ts';
import { condition, historyRow, listedRule, listedTarget } from './alert-shapes.ts';

const id = z.object({ id: z.guid() });

export const alerts = router({
  list: spaceProcedure('viewer')
    .output(z.array(listedRule))
    .query(async ({ ctx: { admin } }) => (await listRules(admin.database, admin.spaceId)).map(isoTimes)),

  /** The last changes of alerts, newest first, with the outcome of their deliveries. */
  history: spaceProcedure('viewer')
    .output(z.array(historyRow))
    .query(async ({ ctx: { admin } }) => (await listHistory(admin.database, admin.spaceId)).map(isoTimes)),

  /** When the rule would have fired in the last week, or hours if many events have to be read. */
  preview: spaceProcedure('admin')
    .input(condition)
    .output(alertPreview)
    .query(({ ctx: { admin }, input: { spaceId: _space, ...rule } }) => {
      requireMeasurable(rule);
      return previewRule(admin.database, admin.spaceId, rule);
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
    .mutation(async ({ ctx: { admin, actor }, input: { spaceId: _space, id: changed, ...rule } }) => {
      requireMeasurable(rule);
      const saved = await admin.inTurn(() =>
        saveRule(admin.database, admin.spaceId, { id: changed, rule, actor }),
      );
      if (saved === 'too_many') throw refusal('TOO_MANY_REQUESTS', 'The space has too many alerts.');
      if (saved === 'no_rule') throw missing('alert');
      if (saved === 'no_target') throw missing('target');
      return { id: saved };
    }),

  remove: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input }) => {
      const removed = { id: input.id, actor };
      if (!(await removeRule(admin.database, admin.spaceId, removed))) throw missing('alert');
    }),

  /** Sends nothing until then; null ends it. */
  mute: spaceProcedure('admin')
    .input(id.extend({ until: instant.nullable() }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input: { id: muted, until } }) => {
      const change = { id: muted, until: until === null ? null : new Date(until), actor };
      if (!(await muteRule(admin.database, admin.spaceId, change))) throw missing('alert');
    }),

  /** Where alerts are sent, and what the operator has configured. */
  targets: spaceProcedure('admin')
    .output(z.object({ targets: z.array(listedTarget), hasMail: z.boolean(), isPrivateAllowed: z.boolean() }))
    .query(async ({ ctx: { admin } }) => {
      const { hasMail, isPrivateAllowed } = admin.alerts;
      return { targets: await listTargets(admin.database, admin.spaceId), hasMail, isPrivateAllowed };
    }),

  /** The secret of a webhook is only returned here. */
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
    .mutation(async ({ ctx: { admin, actor }, input: { spaceId: _space, ...target } }) => {
      requireAddress(target, admin.alerts.isPrivateAllowed);
      const { pepper } = admin;
      const created = await admin.inTurn(() =>
        createTarget(admin.database, admin.spaceId, { target, actor, pepper }),
      );
      if (created !== undefined) return created;
      throw refusal('TOO_MANY_REQUESTS', 'The space has too many targets.');
    }),

  removeTarget: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input }) => {
      const removed = { id: input.id, actor };
      if (!(await removeTarget(admin.database, admin.spaceId, removed))) throw missing('target');
    }),

  /** The history shows the outcome. */
  testTarget: spaceProcedure('admin')
    .input(id)
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor }, input }) => {
      const { publicUrl } = admin.alerts;
      const failed = await admin.inTurn(() =>
        testTarget(admin.database, admin.spaceId, { id: input.id, actor, publicUrl }),
      );
      if (failed === 'no_target') throw missing('target');
      if (failed === 'too_many')
        throw refusal(
          'TOO_MANY_REQUESTS',
          `The space has sent ${testsPerMinuteMax} test messages in the last minute. Wait a minute.`,
        );
    }),
});

/** Statistics by agent are separate from those by type, name and source, and have no models. */
function requireMeasurable({
  kind: measured,
  windowMinutes,
  filter: { agentId, attributeKey, attributeValue, ...others },
}: z.infer<typeof condition>): void {
  if ((attributeKey === undefined) !== (attributeValue === undefined))
    throw refusal('BAD_REQUEST', 'filter: an additional property has a key and a value.');
  if (attributeKey !== undefined) {
    if (windowMinutes <= eventWindowMinutesMax) return;
    throw refusal(
      'BAD_REQUEST',
      `windowMinutes: at most ${eventWindowMinutesMax} with an additional property.`,
    );
  }
  const hasOther = Object.values(others).some((value) => value !== undefined);
  if (agentId === undefined || (!hasOther && measured !== 'cost')) return;
  throw refusal(
    'BAD_REQUEST',
    'filter.agentId: cannot be combined with a model, tool, type or source, or with costs.',
  );
}

function requireAddress(
  { kind: sent, address }: { kind: ListedTarget['kind']; address: string },
  isPrivateAllowed: boolean,
): void {
  if (sent === 'email') {
    if (address.length <= emailCharsMax && isEmail(address.toLowerCase())) return;
    throw refusal('BAD_REQUEST', 'address: must be an e-mail address');
  }
  const protocol = URL.parse(address)?.protocol;
  if (protocol === 'https:' || (isPrivateAllowed && protocol === 'http:')) return;
  throw new TRPCError({ code: 'BAD_REQUEST', message: 'address: must begin with https://' });
}

function missing(what: 'alert' | 'target'): TRPCError {
  return refusal('NOT_FOUND', `There is no such ${what}.`);
}
