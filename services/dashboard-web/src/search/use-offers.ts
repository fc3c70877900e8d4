import { useSettled } from '../api/use-settled.ts';
import { formatCount, formatCounted } from '../format/number.ts';
import { dayMs, hourMs } from '../format/time.ts';
import { keepsData, useSpaceQuery } from '../space/use-space-query.ts';
import { ignoringCase } from '../text/ignoring-case.ts';
import type { Search } from '../url/search.ts';
import {
  type Completion,
  type CompletionOption,
  type FacetField,
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
  { facet: 'model', typed: 'model', field: 'name' },
  { facet: 'tool', typed: 'tool', field: 'name' },
  { facet: 'userId', typed: 'user', field: 'userId' },
] as const;

/** Values offered of each field, and the shortest word that is looked up, in characters. */
const shownMax = 3;
const wordCharsMin = 2;
/** How long values are not asked for again, in milliseconds. */
const freshMs = 60_000;

/** Values are counted over 30 days, in whole hours, so that their queries can be cached. */
const recentMs = () => Math.floor(Date.now() / hourMs) * hourMs - 30 * dayMs;

/** Filters by models, tools and users whose name begins with a word, with their numbers of events. */
export function useOffers(word: string): Offer[] {
  const prefix = useSettled(word);
  const fields = offered.map(({ facet }) => facet);
  const { data = [] } = useSpaceQuery(
    'events.facets',
    { fields, prefix, from: recentMs() },
    { enabled: prefix.length >= wordCharsMin, staleTime: freshMs },
  );
  if (prefix !== word) return [];
  return offered.flatMap(({ field, typed }, place) => {
    const { values = [], newest = null } = data[place] ?? {};
    return values.slice(0, shownMax).map(({ value, events }) => ({
      ...valueOption(value),
      insert: `${typed}:${valueOption(value).insert}`,
      label: `${typed} is ${value}`,
      detail: describeCount(events, newest !== null),
      field: { [field]: value },
    }));
  });
}

function describeCount(count: number | null, isOfNewest: boolean): string {
  if (count === null) return 'older events';
  return isOfNewest
    ? `${formatCount(count)} of the newest events`
    : `${formatCounted(count, 'event')} in 30 days`;
}

/** Options of a completion. Until the API's values arrive, after a pause, earlier ones are filtered. */
export function useCompletion(completion: Completion | undefined): readonly (CompletionOption | Offer)[] {
  const asked = completion?.asked;
  const settled = useSettled(asked);
  const isLabel = settled?.fields.includes('label') === true;
  const fields = settled?.fields.filter((field) => field !== 'label') ?? nothing;
  const { data } = useSpaceQuery(
    'events.facets',
    { fields, prefix: settled?.prefix ?? '', from: recentMs() },
    {
      enabled: asked !== undefined && settled !== undefined && !isLabel,
      staleTime: freshMs,
      ...keepsData,
    },
  );
  const { data: labels = [] } = useSpaceQuery(
    'notes.labels',
    { prefix: settled?.prefix ?? '' },
    { enabled: isLabel, staleTime: freshMs },
  );
  const offers = useOffers(completion?.word ?? '');
  if (completion === undefined) return [];
  if (asked === undefined) return [...completion.options, ...offers];
  const isSame = settled?.fields.join() === asked.fields.join();
  const prefix = ignoringCase(asked.prefix);
  const values = (data ?? [])
    .flatMap((facet) => facet.values)
    .toSorted((a, b) => (b.events ?? 0) - (a.events ?? 0))
    .map(({ value }) => value);
  const found = isLabel ? labels.map(({ label }) => label) : values;
  return toOptions(
    asked,
    isSame ? found.filter((value) => value.search(prefix) === 0 && value !== asked.prefix) : [],
  );
}

const nothing: FacetField[] = ['model'];
