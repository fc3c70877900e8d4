import { uuidShape } from '../../../platform/uuid.ts';

/** The segment after which a search continues. */
export interface SearchCursor {
  /** Latest start time of its events. */
  maxStartMs: number;
  id: string;
}

const shape = new RegExp(`^([^_]{1,32})_(${uuidShape})$`);

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
