import type { Database } from '../db/database.ts';
import { listPartitions, partitionedTables } from '../db/partitions.ts';
import { events } from '../db/schema.ts';
import type { TimeRange } from '../db/weeks.ts';

/** The partitions of events and segments of one week. They are dropped and rewritten together. */
export interface WeekPartitions {
  readonly range: TimeRange;
  /** Undefined when it was not created yet or was dropped by hand. */
  readonly events: string | undefined;
  readonly segments: string | undefined;
}

/** The partitions with bounds, oldest first. */
export async function listWeekPartitions(database: Database): Promise<WeekPartitions[]> {
  const weeks = new Map<string, WeekPartitions>();
  for (const { table } of partitionedTables) {
    const key = table === events ? 'events' : 'segments';
    for (const { name, range } of await listPartitions(database, table)) {
      if (range === undefined) continue;
      const bounds = `${range.fromMs}-${range.toMs}`;
      const week = weeks.get(bounds) ?? { range, events: undefined, segments: undefined };
      weeks.set(bounds, { ...week, [key]: name });
    }
  }
  return [...weeks.values()].toSorted((a, b) => a.range.toMs - b.range.toMs);
}
