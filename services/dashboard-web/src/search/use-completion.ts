import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { apiQuery } from '../api/query.ts';
import { useSpace } from '../space/space.ts';
import { type AskedValues, type Completion, type CompletionOption, toOptions } from './completion.ts';

/** The pause in typing after which values are asked for, in milliseconds. */
const pauseMs = 150;
/** How long values are not asked for again, in milliseconds. */
const freshMs = 60_000;

/** The options of a completion. Values of the API arrive after a pause in typing; until then the previous ones are filtered. */
export function useCompletion(completion: Completion | undefined): readonly CompletionOption[] {
  const { id: spaceId } = useSpace();
  const asked = completion?.asked;
  const settled = useSettled(asked);
  const { data } = useQuery({
    ...apiQuery('events.values', { spaceId, ...(settled ?? nothing) }),
    enabled: asked !== undefined && settled !== undefined,
    staleTime: freshMs,
    placeholderData: keepPreviousData,
  });
  if (completion === undefined) return [];
  if (asked === undefined) return completion.options;
  const isSame = settled?.field === asked.field && settled.key === asked.key;
  const prefix = asked.prefix.toLowerCase();
  const values = isSame ? (data?.values ?? []) : [];
  return toOptions(
    asked,
    values.filter((value) => value.toLowerCase().startsWith(prefix) && value !== asked.prefix),
  );
}

const nothing: AskedValues = { field: 'name', prefix: '' };

function useSettled(asked: AskedValues | undefined): AskedValues | undefined {
  const [settled, settle] = useState(asked);
  const text = JSON.stringify(asked);
  useEffect(() => {
    const timer = setTimeout(() => settle(text === undefined ? undefined : JSON.parse(text)), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
