import { z } from 'zod';
import { hourMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { readCells } from '../charts/read-cells.ts';
import { evaluate } from './evaluation.ts';
import { evaluationDelayMs, previewEventsMax } from './limits.ts';
import { readSeries, readValueNow } from './read-series.ts';
import { type AlertCondition, countsEvents, isStateNow, stepMinutesOf } from './rule.ts';

export const alertPreview = z
  .object({
    fired: z.array(
      z.object({
        fromMs: z.number(),
        /** When it would have resolved; null: it would still fire. */
        toMs: z.number().nullable(),
        value: z.number().nullable(),
      }),
    ),
    value: z.number().nullable(),
    /** Start of the evaluated time, a week at most; null for quota and quarantine, which have no history. */
    sinceMs: z.number().nullable(),
  })
  .meta({ id: 'AlertPreview' });

const weekMs = 7 * 24 * hourMs;
/** The times for a rule that reads events: the longest one without too many is taken. */
const shorterMs = [24 * hourMs, 6 * hourMs, hourMs] as const;
const stepMinutesMin = 5;

/** Evaluates a rule over the last week; one that reads events over the last hours, if there are many. */
export async function previewRule(
  database: Database,
  spaceId: string,
  rule: AlertCondition,
): Promise<z.infer<typeof alertPreview>> {
  if (isStateNow(rule.kind))
    return { fired: [], value: await readValueNow(database, spaceId, rule.kind), sinceMs: null };
  const stepMs = Math.max(stepMinutesMin, stepMinutesOf(rule)) * 60_000;
  const endMs = Math.floor((Date.now() - evaluationDelayMs) / stepMs) * stepMs;
  const sinceMs = endMs - (await choosePeriod(database, spaceId, { filter: rule.filter, endMs }));
  const startMs = sinceMs - rule.windowMinutes * 60_000;
  const series = await readSeries(database, spaceId, { rule, startMs, endMs, stepMs });
  const { transitions, value } = await evaluate(rule, { phase: 'ok', sinceMs }, { series, afterMs: sinceMs });
  const fired = transitions.flatMap(({ change, atMs, value: measured }, index) =>
    change === 'fired' ? [{ fromMs: atMs, toMs: transitions[index + 1]?.atMs ?? null, value: measured }] : [],
  );
  return { fired, value, sinceMs };
}

async function choosePeriod(
  database: Database,
  spaceId: string,
  { filter, endMs }: Pick<AlertCondition, 'filter'> & { endMs: number },
): Promise<number> {
  if (!countsEvents(filter)) return weekMs;
  for (const periodMs of [weekMs, ...shorterMs]) {
    const boundaries = [endMs - periodMs, endMs];
    const cells = await readCells(database, spaceId, { boundaries, group: 'none', filter: {} });
    if (cells.reduce((sum, { events }) => sum + events, 0) <= previewEventsMax) return periodMs;
  }
  return hourMs;
}
