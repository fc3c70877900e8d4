/** The last event of a page; the next page begins after it. */
export interface EventCursor {
  startTimeMs: number;
  id: string;
}

const shape = /^([^_]{1,32})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Formats a cursor as opaque text for clients. */
export function formatEventCursor({ startTimeMs, id }: EventCursor): string {
  return Buffer.from(`${startTimeMs}_${id}`).toString('base64url');
}

/** @returns undefined when {@link formatEventCursor} did not produce the text. */
export function parseEventCursor(text: string): EventCursor | undefined {
  const [, time, id] = shape.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const startTimeMs = Number(time);
  return id !== undefined && Number.isFinite(startTimeMs) ? { startTimeMs, id } : undefined;
}
