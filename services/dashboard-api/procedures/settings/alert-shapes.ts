import { z } from 'zod';
import { asStored } from '../../../../event/text.ts';
import { alertKinds } from '../../../../store/db/schema.ts';
import { holdMinutesMax, windowsMinutes } from '../../alerts/limits.ts';
import type { HistoryRow, ListedRule } from '../../alerts/rules.ts';
import type { ListedTarget } from '../../alerts/targets.ts';

const columnText = z.string().min(1).max(256).transform(asStored);
const kind = z.enum(alertKinds);
const comparison = z.enum(['above', 'below']);

const filterOf = <Text extends z.ZodType<string>>(text: Text) =>
  z.object({
    type: z.enum(['llm', 'tool']).optional(),
    /** A model or tool. */
    name: text.optional(),
    source: text.optional(),
    agentId: text.optional(),
    attributeKey: text.optional(),
    attributeValue: text.optional(),
  });

export const condition = z.object({
  kind,
  /** Statistics by agent have no other dimension. An additional property is read from events of one hour. */
  filter: filterOf(columnText).default({}),
  comparison: comparison.default('above'),
  /**
   * Percent (error_rate, quota), milliseconds (p95), US dollars (cost), or a number. Not used for silence.
   */
  bound: z.number().min(0).max(1e15).default(0),
  windowMinutes: z.literal([...windowsMinutes]).default(15),
  /** How long it must hold before the alert fires, and before it resolves. */
  holdMinutes: z.int().min(0).max(holdMinutesMax).default(5),
});

export const listedRule = z
  .object({
    id: z.guid(),
    name: z.string(),
    kind,
    filter: filterOf(z.string()),
    comparison,
    bound: z.number(),
    windowMinutes: z.number(),
    holdMinutes: z.number(),
    targetIds: z.array(z.guid()),
    phase: z.enum(['ok', 'pending', 'firing', 'clearing']),
    /** When the phase began. */
    since: z.iso.datetime(),
    /** At the last evaluation; null when the window has no value. */
    value: z.number().nullable(),
    mutedUntil: z.iso.datetime().nullable(),
    /** The end of the last window that was evaluated. */
    evaluatedUntil: z.iso.datetime(),
  } satisfies Record<keyof ListedRule, z.ZodType>)
  .meta({ id: 'AlertRule' });

export const listedTarget = z
  .object({
    id: z.guid(),
    name: z.string(),
    kind: z.enum(['webhook', 'slack', 'email']),
    /** The host of a URL, whose path may be a secret, or the e-mail address. */
    shownAddress: z.string(),
  } satisfies Record<keyof ListedTarget, z.ZodType>)
  .meta({ id: 'AlertTarget' });

export const historyRow = z
  .object({
    id: z.guid(),
    change: z.enum(['fired', 'resolved', 'test']),
    at: z.iso.datetime(),
    text: z.string(),
    deliveries: z.array(
      z.object({
        targetId: z.guid(),
        state: z.enum(['delivered', 'waiting', 'failed']),
        failure: z.string().nullable(),
      }),
    ),
  } satisfies Record<keyof HistoryRow, z.ZodType>)
  .meta({ id: 'AlertHistoryRow' });
