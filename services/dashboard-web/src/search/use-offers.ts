import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import { useSettled } from '../api/use-settled.ts';
import { formatCount, formatCounted } from '../format/number.ts';
import { useSpace } from '../space/space.tsx';
import { ignoringCase } from '../text/ignoring-case.ts';
import type { Search } from '../url/search.ts';
import {
  type AskedValues,
  type Completion,
  type CompletionOption,
  toOptions,
  valueOption,
} from './completion.ts';

/** A filter that a word may mean, as a completion and as parameters of an address. */
export interface Offer extends CompletionOption {
  detail: string;
  field: Search;
}

/** What a word may be the value of. */
const offered = [
  { field: 'name', typed: 'model', label: 'model or tool' },
  { field: 'userId', typed: 'user', label: 'user' },
] as const;

/** Values offered of each field, and the shortest word that is looked up, in characters. */
const shownMax = 3;
const wordCharsMin = 2;
/** How long values are not asked for again, in milliseconds. */
const freshMs = 60_000;

/** Filters by models, tools and users whose name begins with a word, with their numbers of events. */
export function useOffers(word: string): Offer[] {
  const { id: spaceId } = useSpace();
  const prefix = useSettled(word);
  const results = useQueries({
    queries: offered.map(({ field }) => ({
      ...apiQuery('events.values', { spaceId, field, prefix }),
      enabled: prefix.length >= wordCharsMin,
      staleTime: freshMs,
    })),
  });
  if (prefix !== word) return [];
  return offered.flatMap(({ field, typed, label }, place) => {
    const { values = [], counts = [], of } = results[place]?.data ?? {};
    return values.slice(0, shownMax).map((value, at) => ({
      ...valueOption(value),
      insert: `${typed}:${valueOption(value).insert}`,
      label: `${label} is ${value}`,
      detail: describeCount(counts[at] ?? null, of),
      field: { [field]: value },
    }));
  });
}

function describeCount(count: number | null, of: string | undefined): string {
  if (count === null) return 'older events';
  return of === 'last 30 days'
    ? `${formatCounted(count, 'event')} in 30 days`
    : `${formatCount(count)} of the newest events`;
}

/**
 * The options of a completion. Values of the API arrive after a pause in typing; until then the previous ones
 * are filtered.
 */
export function useCompletion(completion: Completion | undefined): readonly (CompletionOption | Offer)[] {
  const { id: spaceId } = useSpace();
  const asked = completion?.asked;
  const settled = useSettled(asked);
  const { data } = useQuery({
    ...apiQuery('events.values', { spaceId, ...(settled ?? nothing) }),
    enabled: asked !== undefined && settled !== undefined,
    staleTime: freshMs,
    placeholderData: keepPreviousData,
  });
  const offers = useOffers(completion?.word ?? '');
  if (completion === undefined) return [];
  if (asked === undefined) return [...completion.options, ...offers];
  const isSame = settled?.field === asked.field && settled.key === asked.key;
  const prefix = ignoringCase(asked.prefix);
  const values = isSame ? (data?.values ?? []) : [];
  return toOptions(
    asked,
    values.filter((value) => value.search(prefix) === 0 && value !== asked.prefix),
  );
}

const nothing: AskedValues = { field: 'name', prefix: '' };
