import { Pause, Play, Radio, SearchX } from 'lucide-react';
import { EventGrid } from '../../event-grid/event-grid.tsx';
import { useSelection } from '../../event-grid/use-selection.ts';
import { filterOf } from '../../filter/conditions.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount, formatCounted } from '../../format/number.ts';
import { Peek } from '../../peek/peek.tsx';
import { FilterBar } from '../../search/filter-bar.tsx';
import { useShortcuts } from '../../settings/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { FailureNotice, Notice } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { type TailState, useTail } from './use-tail.ts';

export function LivePage() {
  const { input } = useFilter();
  if (typeof input !== 'string') return <LiveTail input={input} />;
  return (
    <Page title="Live" isWide>
      <Notice icon={SearchX} title="Invalid filter">
        <p>{input}</p>
      </Notice>
    </Page>
  );
}

function LiveTail({ input }: { input: ListInput }) {
  const { search, set } = useFilter();
  const tail = useTail(input);
  const toggle = () => tail.setPaused(!tail.isPaused);
  const { select, open } = useSelection(tail.events);
  useShortcuts({ p: toggle });
  return (
    <Page
      title="Live"
      isWide
      actions={
        <>
          <State state={tail.state} isPaused={tail.isPaused} />
          <Button icon={tail.isPaused ? Play : Pause} onClick={toggle}>
            {tail.isPaused
              ? `Resume${tail.waiting > 0 ? `, ${formatCount(tail.waiting)} waiting` : ''}`
              : 'Pause'}{' '}
            <kbd>p</kbd>
          </Button>
        </>
      }
    >
      <div className="shrink-0 px-4 pb-3 md:px-6">
        <FilterBar />
      </div>
      <p role="status" className="sr-only">
        {tail.isPaused
          ? `Paused, ${formatCounted(tail.waiting, 'event')} waiting`
          : formatCounted(tail.events.length, 'event')}
      </p>
      {tail.skipped !== 0 && (
        <p className="shrink-0 bg-warn-soft px-4 py-1.5 text-sm text-warn md:px-6">
          Events arrived faster than they can be shown:{' '}
          {tail.skipped === null ? 'some' : formatCount(tail.skipped)} were skipped. The list of events has
          all of them.
        </p>
      )}
      <div className="relative flex min-h-0 flex-1">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {typeof tail.state === 'object' && <FailureNotice error={tail.state.error} isSmall />}
          {tail.events.length === 0 ? (
            typeof tail.state === 'string' && (
              <Notice icon={Radio} title={tail.state === 'connecting' ? 'Connecting' : 'Waiting for events'}>
                New events appear here as they are stored.
              </Notice>
            )
          ) : (
            <EventGrid
              label="Live events"
              events={tail.events}
              selectedId={search.peek}
              hasMore={false}
              isLoadingMore={false}
              onLoadMore={() => {}}
              onSelect={select}
              onOpen={open}
            />
          )}
        </div>
        {search.peek && (
          <Peek eventId={search.peek} filter={filterOf(search)} onClose={() => set({ peek: undefined })} />
        )}
      </div>
    </Page>
  );
}

const stateTexts = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  delayed: 'Delayed',
};

function State({ state, isPaused }: { state: TailState; isPaused: boolean }) {
  if (typeof state === 'object') return <Badge tone="bad">Stopped</Badge>;
  if (isPaused) return <Badge tone="warn">Paused</Badge>;
  return <Badge tone={state === 'live' ? 'good' : 'warn'}>{stateTexts[state]}</Badge>;
}
