import type { Output } from '../api/paths.ts';
import { apiQuery } from '../api/query.ts';

export type ListedEvent = Output<'events.list'>['events'][number];
export type WholeEvent = Output<'events.get'>;

/** Where the writer cuts a preview, in UTF-16 code units. */
const previewCharsMax = 64;

/** Whether a preview is, by its length, not the whole text. */
export function isCut(preview: string): boolean {
  return preview.length >= previewCharsMax;
}

/** A preview, with an ellipsis when it is cut. */
export function showPreview(preview: string): string {
  return isCut(preview) ? `${preview}…` : preview;
}

/** An event never changes: it is loaded once. It may be megabytes: few are kept. */
export function eventQuery(spaceId: string, id: string) {
  return { ...apiQuery('events.get', { spaceId, id }), staleTime: Number.POSITIVE_INFINITY, gcTime: 60_000 };
}
