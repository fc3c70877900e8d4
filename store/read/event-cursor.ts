import { uuidShape } from '../../platform/uuid.ts';

/** The last event of a page; the next page begins after it. A search has segments instead of events. */
export interface EventCursor {
  /** Of a segment the latest one of its events. */
  startTimeMs: number;
  id: string;
}

const shape = new RegExp(`^([^_]{1,32})_(${uuidShape})$`);

export function formatEventCursor({ startTimeMs, id }: EventCursor): string {
  return Buffer.from(`${startTimeMs}_${id}`).toString('base64url');
}

/** @returns undefined when {@link formatEventCursor} did not produce the text. */
export function parseEventCursor(text: string): EventCursor | undefined {
  const [, time, id] = shape.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const startTimeMs = Number(time);
  return id !== undefined && Number.isFinite(startTimeMs) ? { startTimeMs, id } : undefined;
}
