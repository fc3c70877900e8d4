import type { Sql } from '../db/connect.ts';
import { monthEnd, monthOf } from './month.ts';
import type { BillingState } from './spaces.ts';

/** The space's usage of one UTC month, `YYYY-MM`: rows stored, and the limit they count against. */
export interface Usage {
  spaceId: string;
  month: string;
  events: number;
  monthlyEventLimit: number | null;
  billingState: BillingState;
  /** The first instant of the next month, ISO 8601: when the count starts anew. */
  resetsAt: string;
}

/** @returns undefined when there is no such space. */
export async function readUsage(sql: Sql, spaceId: string, now = new Date()): Promise<Usage | undefined> {
  const month = monthOf(now.getTime());
  // Counts stay below 2^53: as double precision they arrive as numbers.
  const [row] = await sql<{ events: number; monthlyEventLimit: number | null; billingState: BillingState }[]>`
    SELECT coalesce(usage_months.events, 0)::float8 AS events,
      monthly_event_limit::float8 AS "monthlyEventLimit", billing_state AS "billingState"
    FROM spaces LEFT JOIN usage_months ON usage_months.space_id = spaces.id AND month = ${month}
    WHERE spaces.id = ${spaceId}`;
  return row && { spaceId, month, ...row, resetsAt: monthEnd(now.getTime()) };
}
