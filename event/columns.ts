import type { Columns } from '../gen/weir/queue/v1/queue_pb.ts';

/** A field of weir.queue.v1.Columns. */
export type ColumnName = Exclude<keyof Columns, '$typeName' | '$unknown'>;

export type ColumnType = 'uuid' | 'integer' | 'double precision' | 'text' | 'json' | 'numeric';

/**
 * A field that is added to the proto does not compile until it is here; a test compares with the database.
 */
export const columnTypes: Record<ColumnName, ColumnType> = {
  id: 'uuid',
  segmentIndex: 'integer',
  type: 'text',
  state: 'text',
  name: 'text',
  source: 'text',
  traceId: 'uuid',
  threadId: 'text',
  agentId: 'text',
  agentGroupId: 'text',
  userId: 'text',
  startTimeMs: 'double precision',
  endTimeMs: 'double precision',
  durationMs: 'double precision',
  inputTokens: 'double precision',
  outputTokens: 'double precision',
  totalTokens: 'double precision',
  errorCode: 'text',
  errorHttpStatus: 'text',
  errorMessage: 'text',
  inputPreview: 'text',
  outputPreview: 'text',
  attributes: 'json',
  cacheReadTokens: 'double precision',
  cacheWriteTokens: 'double precision',
  reasoningTokens: 'double precision',
  usageParts: 'json',
  priceClass: 'text',
  reportedCost: 'numeric',
};

export const columnNames = Object.keys(columnTypes) as readonly ColumnName[];

/** `startTimeMs` → `start_time_ms`. */
export function columnInDatabase(name: ColumnName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
