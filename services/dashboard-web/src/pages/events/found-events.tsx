import { SearchX } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { readColumns } from '../../event-grid/chosen-columns.tsx';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatBytes, formatCounted, formatDuration } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useFoundIds } from '../../layout/use-destinations.ts';
import { type Pages, usePages } from '../../space/use-space-query.ts';
import { FoundTextProvider, useFoundMarks } from '../../text/found-marks.tsx';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { FailureNotice, Notice } from '../../ui/loaded.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { ListFrame } from './list-frame.tsx';

/** A search goes on until it has found so many events, and so many more each time the reader goes on. */
const foundStep = 100;

/**
 * The events of a filter whose payload has a text, as they are found, the newest first. The note says how far
 * back has been searched, with buttons to stop and to go on.
 */
export function FoundEvents({ input: { text = '', ...filter } }: { input: ListInput }) {
  const list = useRef<HTMLDivElement>(null);
  useFoundMarks(list, text);
  const { asked } = readColumns(useSearchTexts().columns);
  const pages = usePages('events.search', { ...filter, ...asked, payload: text }, { isFixed: true });
  const events = useMemo(
    () =>
      (pages.data?.pages.flatMap((page) => page.events) ?? []).toSorted(
        (a, b) => b.startTimeMs - a.startTimeMs,
      ),
    [pages.data],
  );
  const search = useSearching(pages, events.length);
  if (pages.isError && events.length === 0)
    return <FailureNotice error={pages.error} onRetry={() => void pages.refetch()} />;
  return (
    <FoundTextProvider value={text}>
      <div ref={list} className="flex min-h-0 flex-1 flex-col">
        <NamedBy text={text} />
        <ListFrame
          input={filter}
          events={events}
          newestMs={events[0]?.startTimeMs}
          hasMore={search.isGoingOn && events.length > 0}
          empty={<NothingFound text={text} isSearching={pages.isPending || pages.hasNextPage} />}
          note={<Progress pages={pages} found={events.length} search={search} />}
        />
      </div>
    </FoundTextProvider>
  );
}

interface Searching {
  isGoingOn: boolean;
  stop: () => void;
  goOn: () => void;
}

function useSearching(pages: Pages<'events.search'>, found: number): Searching {
  const [wanted, setWanted] = useState(foundStep);
  const { hasNextPage, isFetching, isError, fetchNextPage } = pages;
  const isGoingOn = pages.isPending || (hasNextPage && found < wanted);
  useEffect(() => {
    if (isGoingOn && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isGoingOn, hasNextPage, isFetching, isError, fetchNextPage]);
  return { isGoingOn, stop: () => setWanted(0), goOn: () => setWanted(found + foundStep) };
}

interface ProgressProps {
  pages: Pages<'events.search'>;
  found: number;
  search: Searching;
}

function Progress({ pages, found, search: { isGoingOn, stop, goOn } }: ProgressProps) {
  const loaded = pages.data?.pages ?? [];
  const bytes = loaded.reduce((sum, { progress }) => sum + progress.bytes, 0);
  const ms = loaded.reduce((sum, { progress }) => sum + progress.ms, 0);
  const first = loaded[0]?.progress;
  const leftBytes = first?.leftBytes == null ? undefined : Math.max(0, first.leftBytes + first.bytes - bytes);
  const untilMs = loaded.at(-1)?.progress.searchedUntilMs ?? null;
  const isWhole = loaded.length > 0 && !pages.hasNextPage;
  return (
    <div className="flex min-h-10 shrink-0 items-center gap-3 border-line border-t px-4 py-1.5 text-muted text-xs">
      <p role="status" className="flex-1">
        {formatCounted(found, 'event')} found; {formatBytes(bytes)} of payloads searched
        {isWhole ? ', all of this filter.' : untilMs !== null && `, back to ${formatTime(untilMs)}.`}
        {leftBytes !== undefined &&
          !isWhole &&
          ` ${formatBytes(leftBytes)} left: ${nameTime(leftBytes / (bytes / ms))}.`}
        {pages.isError ? ` ${describeFailure(pages.error).message}` : isGoingOn && ' Searching …'}
      </p>
      {!isWhole && (
        <Button size="small" onClick={isGoingOn ? stop : goOn} text={isGoingOn ? 'Stop' : 'Go on'} />
      )}
    </div>
  );
}

/** About how long the rest of a search takes. */
function nameTime(ms: number): string {
  return ms < 1_500 ? 'about a second' : `about ${formatDuration(Math.round(ms / 1_000) * 1_000)}`;
}

/** The event, trace, thread, user or agent that has the searched text as its id. */
function NamedBy({ text }: { text: string }) {
  const { found } = useFoundIds(text);
  if (found.length === 0) return null;
  return (
    <ul aria-label="Ids" className="flex shrink-0 flex-wrap items-center gap-2 px-4 pb-2 text-sm md:px-6">
      {found.map(({ key, hint, go }) => (
        <li key={key}>
          <Button size="small" onClick={go} text={`Open the ${hint} ${describeText(text)}`} />
        </li>
      ))}
    </ul>
  );
}

function NothingFound({ text, isSearching }: { text: string; isSearching: boolean }) {
  const { search, clear } = useFilter();
  if (isSearching) return <Notice icon={SearchX} title="Nothing found yet" />;
  const hasRange = search.last !== undefined || search.from !== undefined;
  return (
    <Notice icon={SearchX} title="No matching events">
      <p>
        No event {hasRange ? 'in this range ' : ''}has “
        <ShownText text={text} />” in what was sent: prompts, responses, tool calls, ids, properties and
        errors. Expired and erased events, and those in quarantine, are not searched.
      </p>
      <Button className="mt-3" onClick={clear} text="Clear the filter" />
    </Notice>
  );
}
