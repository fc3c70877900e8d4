/** The segment after which a search continues. */
export interface SearchCursor {
  /** Latest start time of its events. */
  maxStartMs: number;
  id: string;
}

const shape = /^([^_]{1,32})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Formats a cursor as opaque text for clients. */
export function formatSearchCursor({ maxStartMs, id }: SearchCursor): string {
  return Buffer.from(`${maxStartMs}_${id}`).toString('base64url');
}

/** @returns undefined when {@link formatSearchCursor} did not produce the text. */
export function parseSearchCursor(text: string): SearchCursor | undefined {
  const [, time, id] = shape.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (id === undefined) return undefined;
  const maxStartMs = Number(time);
  return Number.isFinite(maxStartMs) ? { maxStartMs, id } : undefined;
}
