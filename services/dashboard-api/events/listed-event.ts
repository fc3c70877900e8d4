import { z } from 'zod';
import { events } from '../../../lib/db/schema.ts';
import { eventFlag, flagEvent } from './event-flags.ts';

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

const text = z.string().nullable();
const count = z.number().nullable();

/** An event as a list shows it. */
export const listedEvent = z
  .object({
    id: z.guid(),
    type: z.enum(events.type.enumValues),
    state: z.enum(events.state.enumValues),
    /** The model or the tool. */
    name: text,
    source: z.string(),
    traceId: z.guid().nullable(),
    threadId: text,
    agentId: text,
    agentGroupId: text,
    userId: text,
    startTimeMs: z.number(),
    endTimeMs: z.number(),
    durationMs: z.number(),
    inputTokens: count,
    outputTokens: count,
    totalTokens: count,
    errorCode: text,
    errorHttpStatus: text,
    errorMessage: text,
    /** The beginning of the input and of the output. */
    inputPreview: text,
    outputPreview: text,
    /** When ingest received it, ISO 8601. */
    receivedAt: z.iso.datetime(),
    flags: z.array(eventFlag),
  } satisfies Record<keyof ListedRow | 'flags', z.ZodType>)
  .meta({ id: 'ListedEvent' });
export type ListedEvent = z.infer<typeof listedEvent>;

/** An event as a list shows it, with what else the row has. */
export function showEvent<Row extends ListedRow>(row: Row): Omit<Row, keyof ListedEvent> & ListedEvent {
  return { ...row, receivedAt: row.receivedAt.toISOString(), flags: flagEvent(row) };
}
