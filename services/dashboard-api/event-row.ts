import type { Sql } from '../../lib/db/connect.ts';
import { type EventFlag, flagEvent } from './event-flags.ts';

/** The columns of an event that lists show. Texts are cut as the columns are; the whole event is in its segment. */
interface EventRow {
  id: string;
  type: 'llm' | 'tool';
  state: 'ok' | 'error';
  /** The model or the tool. */
  name: string | null;
  source: string;
  traceId: string | null;
  threadId: string | null;
  agentId: string | null;
  agentGroupId: string | null;
  userId: string | null;
  startTimeMs: number;
  endTimeMs: number;
  durationMs: number;
  inputTokens: number | null;
  outputTokens: number | null;
  totalTokens: number | null;
  errorCode: string | null;
  errorHttpStatus: string | null;
  errorMessage: string | null;
  inputPreview: string | null;
  outputPreview: string | null;
}

/** What Postgres returns for {@link eventColumns}. */
export type StoredEventRow = EventRow & { receivedAt: Date };

/** An event as lists show it. */
export interface ListedEvent extends EventRow {
  /** When ingest received it, ISO 8601. */
  receivedAt: string;
  flags: EventFlag[];
}

/** The select list of a {@link StoredEventRow}. Attributes are left out: with the event they come exactly as sent. */
export function eventColumns(sql: Sql) {
  return sql`
    id, type, state, name, source, trace_id AS "traceId", thread_id AS "threadId", agent_id AS "agentId",
    agent_group_id AS "agentGroupId", user_id AS "userId", start_time_ms AS "startTimeMs",
    end_time_ms AS "endTimeMs", duration_ms AS "durationMs", input_tokens AS "inputTokens",
    output_tokens AS "outputTokens", total_tokens AS "totalTokens", error_code AS "errorCode",
    error_http_status AS "errorHttpStatus", error_message AS "errorMessage", input_preview AS "inputPreview",
    output_preview AS "outputPreview", received_at AS "receivedAt"`;
}

export function showEvent(row: StoredEventRow): ListedEvent {
  return { ...row, receivedAt: row.receivedAt.toISOString(), flags: flagEvent(row) };
}
