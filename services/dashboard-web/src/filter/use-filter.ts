import { useNavigate, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useZone } from '../settings/settings.ts';
import type { Search } from '../url/search.ts';
import { useSearchTexts } from '../url/use-search.ts';
import { type Condition, withCondition, withoutCondition, withoutFilter } from './conditions.ts';
import { type ListInput, toEventFilter } from './event-filter.ts';
import { isRecentRange, recentRanges } from './time-range.ts';

/** A range that ends now moves in steps of this fraction of its length, so that its queries can be cached. */
const stepsOfRange = 60;

export interface Filter {
  search: Search;
  /** The API's filter, or an error message. */
  input: ListInput | string;
  add: (condition: Condition) => void;
  remove: (condition: Condition) => void;
  clear: () => void;
  /** Sets parameters of the address; undefined removes one. */
  set: (change: Record<string, string | undefined>) => void;
}

/** The filter of the page's address. */
export function useFilter(): Filter {
  const search = useSearchTexts();
  const zone = useZone();
  const navigate = useNavigate();
  const now = search.last === undefined ? 0 : roundedNow(search.last);
  const input = useMemo(() => toEventFilter(search, now, zone), [search, now, zone]);
  // `to: '.'` stays on the current page.
  const show = (next: Search) => void navigate({ to: '.', search: next, replace: false });
  return {
    search,
    input,
    add: (condition) => show(withCondition(search, condition)),
    remove: (condition) => show(withoutCondition(search, condition)),
    clear: () => show(withoutFilter(search)),
    set: (change) => {
      const next = { ...search, ...change };
      show(
        Object.fromEntries(
          Object.entries(next).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
      );
    },
  };
}

function roundedNow(last: string): number {
  const stepMs = isRecentRange(last) ? recentRanges[last].ms / stepsOfRange : 60_000;
  return Math.ceil(Date.now() / stepMs) * stepMs;
}

/** Pages whose list a condition is added to. On other pages it opens the list of events. */
const filtered = /\/(events|live)$/;

/** Shows only the events with a value, or all others. */
export function useFilterBy(): (condition: Condition) => void {
  const { add } = useFilter();
  const navigate = useNavigate();
  const { spaceId = '' } = useParams({ strict: false });
  return (condition) => {
    if (filtered.test(location.pathname)) return add(condition);
    void navigate({ to: '/s/$spaceId/events', params: { spaceId }, search: withCondition({}, condition) });
  };
}
