import { z } from 'zod';
import { columnCharsMax } from '../../../event/limits.ts';
import type { Database } from '../../../store/db/database.ts';
import { CostSum, cost } from '../../../store/prices/cost-sum.ts';
import {
  type ActivitySearch,
  ofEvents,
  openActivitySearch,
} from '../../../store/read/activity/activity-search.ts';
import type { ActivityColumn } from '../../../store/read/activity/activity-segments.ts';
import { type ActivitySummary, summarizeActivity } from '../../../store/read/activity/activity-summary.ts';
import { operators } from '../../../store/read/compare/comparisons.ts';
import { formatEventCursor } from '../../../store/read/event-cursor.ts';
import { withNotedEvents } from '../../../store/read/noted-events.ts';
import { costOfCalls } from '../charts/token-prices.ts';
import { comparisonsMax, eventCursor, noteCondition, noteConditionsMax, timeMs } from '../filter-input.ts';
import { refusal } from '../refusal.ts';
import type { SpaceRows } from '../space-data.ts';
import { ValueWalk } from './value-walk.ts';

const activityModelsShown = 5;

const activityPageDefault = 30;
const activityPageMax = 50;

const activitySearchCharsMax = 256;

/** Events of the segments counted for a page of threads or users. With more, counts are lower bounds. */
const activityCountedEvents = 20_000;

/** A cost is in US dollars. */
const activityComparison = z.object({
  measure: z.enum(['events', 'errors', 'tokens', 'cost']),
  operator: z.enum(operators),
  value: z.number(),
});
type ActivityComparison = z.infer<typeof activityComparison>;

export const activityPage = {
  limit: z.int().min(1).max(activityPageMax).default(activityPageDefault),
  cursor: eventCursor.optional(),
};

/** Lists of threads and of users, which have no `userId`. */
export const activityQuery = z.object({
  ...activityPage,
  from: timeMs.optional(),
  to: timeMs.optional(),
  /** An id or its beginning; for threads also a user's id or its beginning, or a text of an input preview. */
  search: z.string().min(1).max(activitySearchCharsMax).optional(),
  /** Only those with a call of this model; counts, tokens, cost and models are then of its calls. */
  model: z.string().max(columnCharsMax).optional(),
  /** Only those whose counts in the range are as compared; a cost is in US dollars. */
  comparisons: z.array(activityComparison).max(comparisonsMax).optional(),
  /** Only those with events that have such notes: on themselves, their trace or their thread. */
  notes: z.array(noteCondition).min(1).max(noteConditionsMax).optional(),
  /** The threads of one user. */
  userId: z.string().optional(),
});
type ActivityQuery = z.infer<typeof activityQuery>;

/** A thread or a user with its events in the time range. */
const activity = z
  .object({
    id: z.string(),
    events: z.number(),
    errors: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    firstStartMs: z.number(),
    lastStartMs: z.number(),
    /** The first characters of the input of the first model call; null without one. */
    firstInput: z.string().nullable(),
    /** The state of the last event. */
    lastState: z.enum(['ok', 'error']),
    /** The user of the last event that has one. */
    userId: z.string().nullable(),
    /** The models with the most calls, at most five. */
    models: z.array(z.string()),
    /** The number of all its models. */
    modelCount: z.number(),
    cost,
  } satisfies Record<
    'id' | 'models' | 'modelCount' | 'cost' | Exclude<keyof ActivitySummary, 'value' | 'isShown' | 'calls'>,
    z.ZodType
  >)
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof activity>;

export const activityList = z
  .object({
    /** Most recently active first. */
    items: z.array(activity),
    /** Start of the next page; null at the end. A page before the end may have fewer items than requested. */
    nextCursor: z.string().nullable(),
    /** False when some counts are lower bounds, because their events are in too many requests. */
    areCountsComplete: z.boolean(),
    /** How far back the events were searched, in milliseconds since the epoch; null at the end. */
    searchedUntilMs: z.number().nullable(),
  })
  .meta({ id: 'ActivityList' });
export type ActivityList = z.infer<typeof activityList>;

/** A thread or user with all its events. */
export const activityTotal = activity
  .extend({
    /** False when the counts are lower bounds. */
    areCountsComplete: z.boolean(),
  })
  .meta({ id: 'ActivityTotal' });
export type ActivityTotal = z.infer<typeof activityTotal>;

/** A page, most recent activity first. Following `nextCursor` shows all that existed at the start. */
export async function listActivity(
  space: SpaceRows,
  column: ActivityColumn,
  query: ActivityQuery,
): Promise<ActivityList> {
  const { database, spaceId } = space;
  const { from, to, cursor, limit, model, comparisons = [] } = query;
  const search = await searchOf(space, column, query);
  const asked = { column, range: { from, to }, match: search?.match };
  const walk = new ValueWalk(space, { ...asked, search, after: cursor });
  const items: Activity[] = [];
  let areCountsComplete = true;
  while (walk.mayFindMore && items.length < limit) {
    // All values are counted in one go, because that takes longer than finding them.
    const values = await walk.take(limit - items.length);
    const counted = { ...asked, values, position: cursor, eventsMax: activityCountedEvents };
    const found = await summarizeActivity(database, spaceId, counted);
    areCountsComplete &&= found.isComplete;
    const byValue = new Map(found.summaries.map((summary) => [summary.value, summary]));
    // Values that were active before the cursor were on an earlier page.
    const shown = values.flatMap((value) => byValue.get(value) ?? []).filter(({ isShown }) => !isShown);
    const wanted = model === undefined ? shown : shown.flatMap((one) => callsOf(one, model));
    const activities = await showActivities(database, spaceId, wanted);
    items.push(
      ...activities.filter((one) => comparisons.every((comparison) => isAsCompared(one, comparison))),
    );
  }
  const { next } = walk;
  return {
    items,
    nextCursor: next === undefined ? null : formatEventCursor(next),
    areCountsComplete,
    searchedUntilMs: next?.startTimeMs ?? null,
  };
}

/** With the counts of a model's calls; none without calls. */
function callsOf(summary: ActivitySummary, model: string): ActivitySummary[] {
  const calls = summary.calls.filter((one) => one.model === model);
  if (calls.length === 0) return [];
  const sum = (name: 'events' | 'errors' | 'inputTokens' | 'outputTokens') =>
    calls.reduce((total, one) => total + one[name], 0);
  return [
    {
      ...summary,
      calls,
      events: sum('events'),
      errors: sum('errors'),
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
    },
  ];
}

function isAsCompared(activity: Activity, { measure, operator, value }: ActivityComparison): boolean {
  const { inputTokens, outputTokens, cost, events, errors } = activity;
  const measured = {
    events,
    errors,
    tokens: inputTokens + outputTokens,
    cost: Number(cost.cost ?? Number.NaN),
  }[measure];
  if (operator.startsWith('>')) return measured > value || (operator === '>=' && measured === value);
  return measured < value || (operator === '<=' && measured === value);
}

/** @returns undefined when the space has no event of the thread or user. */
export async function readActivity(
  { database, spaceId }: SpaceRows,
  column: ActivityColumn,
  value: string,
): Promise<ActivityTotal | undefined> {
  const { summaries, isComplete } = await summarizeActivity(database, spaceId, {
    column,
    values: [value],
    range: {},
    position: undefined,
    eventsMax: activityCountedEvents,
  });
  const [shown] = await showActivities(database, spaceId, summaries);
  return shown && { ...shown, areCountsComplete: isComplete };
}

async function searchOf(
  { database, spaceId }: SpaceRows,
  column: ActivityColumn,
  { search, userId, notes }: ActivityQuery,
): Promise<ActivitySearch | undefined> {
  if (search !== undefined && notes !== undefined)
    throw refusal('BAD_REQUEST', 'search: a list of those with notes cannot be searched.');
  if (userId !== undefined || notes !== undefined)
    return ofEvents(await withNotedEvents(database, spaceId, { userId, notes }));
  return search === undefined
    ? undefined
    : await openActivitySearch(database, spaceId, { column, text: search });
}

async function showActivities(
  database: Database,
  spaceId: string,
  summaries: readonly ActivitySummary[],
): Promise<Activity[]> {
  const costs = await costOfCalls(
    database,
    spaceId,
    summaries.map(({ calls }) => calls),
  );
  return summaries.map(({ value, isShown: _isShown, calls, ...summary }, place) => {
    const models = mostCalled(calls);
    return {
      ...summary,
      id: value,
      models: models.slice(0, activityModelsShown),
      modelCount: models.length,
      cost: costs[place] ?? new CostSum().cost,
    };
  });
}

/** The models, those with the most calls first. */
function mostCalled(calls: ActivitySummary['calls']): string[] {
  const counts = new Map<string, number>();
  for (const { model, events } of calls)
    if (model !== null && model !== '') counts.set(model, (counts.get(model) ?? 0) + events);
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([model]) => model);
}
