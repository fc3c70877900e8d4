import { events } from '../../../lib/db/schema.ts';
import { type EventFlag, flagEvent } from './event-flags.ts';

/**
 * The columns that a list shows. Texts are cut as the columns are; the whole event is in its segment. Attributes are
 * left out: they come with the whole event, exactly as sent.
 */
export const listedColumns = {
  id: events.id,
  type: events.type,
  state: events.state,
  /** The model or the tool. */
  name: events.name,
  source: events.source,
  traceId: events.traceId,
  threadId: events.threadId,
  agentId: events.agentId,
  agentGroupId: events.agentGroupId,
  userId: events.userId,
  startTimeMs: events.startTimeMs,
  endTimeMs: events.endTimeMs,
  durationMs: events.durationMs,
  inputTokens: events.inputTokens,
  outputTokens: events.outputTokens,
  totalTokens: events.totalTokens,
  errorCode: events.errorCode,
  errorHttpStatus: events.errorHttpStatus,
  errorMessage: events.errorMessage,
  inputPreview: events.inputPreview,
  outputPreview: events.outputPreview,
  receivedAt: events.receivedAt,
};

/** The columns of an event, as they are read. */
export type ListedRow = Pick<typeof events.$inferSelect, keyof typeof listedColumns>;

/** An event as a list shows it. */
export interface ListedEvent extends Omit<ListedRow, 'receivedAt'> {
  /** When ingest received it, ISO 8601. */
  receivedAt: string;
  flags: EventFlag[];
}

export function showEvent(row: ListedRow): ListedEvent {
  return { ...row, receivedAt: row.receivedAt.toISOString(), flags: flagEvent(row) };
}
