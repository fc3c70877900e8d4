/** The place in the list after which the next page begins: the last event that was shown. */
export interface EventCursor {
  startTimeMs: number;
  id: string;
}

const shape = /^([^_]{1,32})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** A cursor as an opaque text: clients hand it back, and nothing else. */
export function formatEventCursor({ startTimeMs, id }: EventCursor): string {
  return Buffer.from(`${startTimeMs}_${id}`).toString('base64url');
}

/** @returns undefined when the text is no cursor of ours. */
export function parseEventCursor(text: string): EventCursor | undefined {
  const [, time, id] = shape.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const startTimeMs = Number(time);
  return id !== undefined && Number.isFinite(startTimeMs) ? { startTimeMs, id } : undefined;
}
