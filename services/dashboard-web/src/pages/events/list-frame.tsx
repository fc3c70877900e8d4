import { Inbox, SearchX } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { EventBars, eventBarsHeight } from '../../charts/event-bars.tsx';
import { readRange } from '../../charts/range.ts';
import { readColumns } from '../../event-grid/chosen-columns.tsx';
import { EventGrid, type EventRows } from '../../event-grid/event-grid.tsx';
import { useSelection } from '../../event-grid/use-selection.ts';
import { filterOf } from '../../filter/conditions.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { NewestEvent } from '../../filter/newest-event.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { minuteMs } from '../../format/time.ts';
import { SelectedEvent } from '../../peek/peek.tsx';
import { useZone } from '../../settings/settings.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/loaded.tsx';

interface ListFrameProps extends Omit<EventRows, 'selectedId'> {
  input: ListInput;
  /** The start of the newest event, where it is known. */
  newestMs: number | undefined;
  /** Shown over the list. */
  pill?: ReactNode;
  /** Shown in place of an empty list. */
  empty?: ReactNode;
  /** Shown below the list: how far the list goes. */
  note: ReactNode;
}

/** The list in any order, between the histogram and a note, with the selected event beside it. */
export function ListFrame({ input, newestMs, pill, empty = <NoEvents />, note, ...rows }: ListFrameProps) {
  const { search, set } = useFilter();
  const { select, open } = useSelection(rows.events);
  const { columns } = useMemo(() => readColumns(search.columns), [search.columns]);
  return (
    <>
      <div className="shrink-0 px-4 pb-2 md:px-6">
        <Histogram input={input} newestMs={newestMs} />
      </div>
      <div className="relative flex min-h-0 flex-1">
        <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
          {pill}
          {rows.events.length === 0 && !rows.hasMore ? (
            empty
          ) : (
            <EventGrid
              {...rows}
              columns={columns}
              selectedId={search.peek}
              onSelect={select}
              onOpen={open}
              sort={{ by: readOrder(search.sort), onSort: (by) => set({ sort: by }) }}
            />
          )}
          {note}
        </div>
        <SelectedEvent />
      </div>
    </>
  );
}

function NoEvents() {
  const { search, input, clear } = useFilter();
  const hasRange = search.last !== undefined || search.from !== undefined || search.to !== undefined;
  if (Object.keys(filterOf(search)).length === 0)
    return (
      <Notice icon={Inbox} title="No events yet">
        <p>New events appear here within a second.</p>
      </Notice>
    );
  return (
    <Notice icon={SearchX} title="No matching events">
      {hasRange && typeof input !== 'string' && <NewestEvent filter={input} />}
      <Button className="mt-3" onClick={clear} text="Clear the filter" />
    </Notice>
  );
}

const buckets = 72;

/** The list's events over time. Dragging selects a range. */
function Histogram({ input, newestMs }: { input: ListInput; newestMs: number | undefined }) {
  const { search, set } = useFilter();
  const zone = useZone();
  const [now] = useState(Date.now);
  const { from, to } = useMemo(() => {
    const range = readRange(search, now, zone);
    // Any time: from the space's first event, which the API knows, to the newest of the list.
    if (search.last === undefined && search.from === undefined) {
      const end = Math.max(newestMs ?? 0, search.to === undefined ? 0 : range.to);
      return { from: undefined, to: end === 0 ? range.to : Math.ceil((end + 1) / minuteMs) * minuteMs };
    }
    return range;
  }, [search, now, newestMs, zone]);
  const { data } = useSpaceQuery('events.histogram', { ...input, from, to, buckets });
  if (data === undefined) return <div className={eventBarsHeight} />;
  return (
    <EventBars
      counts={data.buckets}
      bucketMs={data.bucketMs}
      onRange={({ from, to }) => set({ last: undefined, from: String(from), to: String(to) })}
    />
  );
}

/** The orders of the list, by their name in the address. */
export const orders = {
  duration: { label: 'Slowest first', superlative: 'slowest' },
  tokens: { label: 'Most tokens first', superlative: 'largest' },
  cost: { label: 'Most expensive first', superlative: 'most expensive' },
} as const;

export type Order = keyof typeof orders;

/** @returns undefined for the order of time. */
export function readOrder(text: string | undefined): Order | undefined {
  return text !== undefined && Object.hasOwn(orders, text) ? (text as Order) : undefined;
}
