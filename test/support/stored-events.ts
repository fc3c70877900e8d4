import { readEventTexts } from '../../store/segments/read.ts';
import type { Pipeline } from './pipeline.ts';
import { untilDrained, untilResolved } from './wait.ts';

/**
 * Waits until everything accepted is stored, and its traces are resolved.
 * @returns the events of a space as text, ordered by start time.
 */
export async function readStoredTexts(pipeline: Pipeline, spaceId: string): Promise<string[]> {
  await untilDrained(pipeline);
  await untilResolved(pipeline.sql, spaceId);
  const rows = await pipeline.sql<{ segmentId: string; segmentIndex: number }[]>`
    SELECT segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
    WHERE space_id = ${spaceId} ORDER BY start_time_ms, id`;
  return (await readEventTexts(pipeline.database, spaceId, rows)).map((text) => text ?? '');
}

/** The same, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: events are any JSON.
export async function readStored(pipeline: Pipeline, spaceId: string): Promise<any[]> {
  return (await readStoredTexts(pipeline, spaceId)).map((text) => JSON.parse(text));
}
