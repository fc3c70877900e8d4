import { Pause, Play, Radio } from 'lucide-react';
import { EventGrid } from '../../event-grid/event-grid.tsx';
import { useSelection } from '../../event-grid/use-selection.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount, formatCounted } from '../../format/number.ts';
import { SelectedEvent } from '../../peek/peek.tsx';
import { FilterBar } from '../../search/filter-bar.tsx';
import { useShortcuts } from '../../settings/settings.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { FailureNotice, InvalidFilter, Notice } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { type TailState, useTail } from './use-tail.ts';

export function LivePage() {
  const { input } = useFilter();
  if (typeof input !== 'string') return <LiveTail input={input} />;
  return (
    <Page title="Live" isWide>
      <InvalidFilter problem={input} />
    </Page>
  );
}

function LiveTail({ input }: { input: ListInput }) {
  const { search } = useFilter();
  const tail = useTail(input);
  const waiting = tail.waiting > 0 ? `, ${formatCount(tail.waiting)} waiting` : '';
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
            {tail.isPaused ? `Resume${waiting}` : 'Pause'} <kbd>p</kbd>
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
      {tail.skipped !== 0 && <SkippedNotice count={tail.skipped} />}
      <div className="relative flex min-h-0 flex-1">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {typeof tail.state === 'object' && <FailureNotice error={tail.state.error} isSmall />}
          {tail.events.length === 0 ? (
            typeof tail.state === 'string' && <NoEvents isConnecting={tail.state === 'connecting'} />
          ) : (
            <EventGrid
              label="Live events"
              events={tail.events}
              selectedId={search.peek}
              onSelect={select}
              onOpen={open}
            />
          )}
        </div>
        <SelectedEvent />
      </div>
    </Page>
  );
}

function NoEvents({ isConnecting }: { isConnecting: boolean }) {
  return (
    <Notice icon={Radio} title={isConnecting ? 'Connecting' : 'Waiting for events'}>
      New events appear here as they are stored.
    </Notice>
  );
}

/** The list of events has what a fast stream leaves out. */
function SkippedNotice({ count }: { count: number | null }) {
  return (
    <p className="shrink-0 bg-warn-soft px-4 py-1.5 text-sm text-warn md:px-6">
      Events arrived faster than they can be shown: {count === null ? 'some' : formatCount(count)} were
      skipped. The list of events has all of them.
    </p>
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
