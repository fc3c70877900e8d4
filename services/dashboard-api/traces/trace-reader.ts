import type { ActivityColumn } from '../../../store/read/activity/activity-summary.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import type { SharedReader } from '../events/event-reader.ts';
import {
  type ActivityList,
  type ActivityQuery,
  type ActivityTotal,
  listActivity,
  readActivity,
} from '../threads/activity.ts';
import { readTurns, type TurnPage } from '../threads/turns.ts';
import { readTrace, type Trace } from './trace.ts';

/** Reads the traces, threads and users of one space. */
export interface TraceReader {
  /** @returns undefined when no event of the space has this trace. */
  get(traceId: string): Promise<Trace | undefined>;
  listActivity(column: ActivityColumn, query: ActivityQuery): Promise<ActivityList>;
  /** @returns undefined when no event of the space has this thread or user. */
  getActivity(column: ActivityColumn, value: string): Promise<ActivityTotal | undefined>;
  turns(query: { threadId: string; cursor?: EventCursor | undefined; limit: number }): Promise<TurnPage>;
}

export function openTraceReader({ database, openingLimiter }: SharedReader, spaceId: string): TraceReader {
  return {
    // Limited, because it reads the text of events.
    get: (traceId) => openingLimiter(() => readTrace(database, spaceId, traceId)),
    listActivity: (column, query) => listActivity(database, spaceId, { column, query }),
    getActivity: (column, value) => readActivity(database, spaceId, { column, value }),
    turns: (query) => readTurns(database, spaceId, query),
  };
}
