import { useQuery } from '@tanstack/react-query';
import { apiQuery, type Output } from '../api/query.ts';
import { useSpace } from '../space/space.tsx';
import { readEventText } from './event-text.ts';
import type { Excerpt } from './excerpt.tsx';

/** An event of a list; where it was searched for, with the place of the text. */
export type ListedEvent = Output<'events.list'>['events'][number] & { excerpt?: Excerpt };
export type WholeEvent = Output<'events.get'>;

/** Where the writer cuts a preview, in UTF-16 code units. */
const previewCharsMax = 64;

export function isCut(preview: string): boolean {
  return preview.length >= previewCharsMax;
}

/** A preview, with an ellipsis when it is cut. */
export function showPreview(preview: string): string {
  return isCut(preview) ? `${preview}…` : preview;
}

/** Tokens as the API compares and orders them: input and output, or only a total that was sent. */
export function tokensOf({
  inputTokens,
  outputTokens,
  totalTokens,
}: Pick<ListedEvent, 'inputTokens' | 'outputTokens' | 'totalTokens'>): number | null {
  if (inputTokens === null && outputTokens === null) return totalTokens;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** Events never change, so they are loaded once. They may be megabytes, so they are cached only briefly. */
export function eventQuery(spaceId: string, id: string) {
  return { ...apiQuery('events.get', { spaceId, id }), staleTime: Number.POSITIVE_INFINITY, gcTime: 60_000 };
}

/** @param id undefined: no event is loaded. */
export function useEvent(id: string | undefined) {
  const { id: spaceId } = useSpace();
  return useQuery({ ...eventQuery(spaceId, id ?? ''), enabled: id !== undefined });
}

const textOf = ({ event }: WholeEvent) => readEventText(event);

/** The texts of an event. */
export function useEventText(id: string | undefined) {
  const { id: spaceId } = useSpace();
  return useQuery({ ...eventQuery(spaceId, id ?? ''), enabled: id !== undefined, select: textOf });
}
