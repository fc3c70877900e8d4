import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import { useSettled } from '../api/use-settled.ts';
import { useSpace } from '../space/space.ts';
import { ignoringCase } from '../text/ignoring-case.ts';
import { type AskedValues, type Completion, type CompletionOption, toOptions } from './completion.ts';
import { type Offer, useOffers } from './use-offers.ts';

/** How long values are not asked for again, in milliseconds. */
const freshMs = 60_000;

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
