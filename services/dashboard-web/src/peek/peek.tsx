import { ArrowUpRight, X } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { Conversation } from '../event/conversation.tsx';
import { EventFields } from '../event/event-fields.tsx';
import { useEvent, type WholeEvent } from '../event/event-query.ts';
import { readEventText } from '../event/event-text.ts';
import { filterOf } from '../filter/conditions.ts';
import { useFilter } from '../filter/use-filter.ts';
import { formatDuration } from '../format/number.ts';
import { SpaceLink } from '../space/space.tsx';
import { useFoundMarks, useFoundText } from '../text/found-marks.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { StateBadge, TypeBadge } from '../ui/badge.tsx';
import { buttonClasses, IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Loaded } from '../ui/loaded.tsx';
import type { Search } from '../url/search.ts';
import { CallUsage } from './call-usage.tsx';

/** The event that the address selects, beside its list. */
export function SelectedEvent() {
  const { search, set } = useFilter();
  if (!search.peek) return null;
  return <Peek eventId={search.peek} filter={filterOf(search)} onClose={() => set({ peek: undefined })} />;
}

interface PeekProps {
  eventId: string;
  filter: Search;
  onClose: () => void;
  isBelow?: boolean;
}

/** An event that covers the list, or with `isBelow` is below it. Its page finds neighbours by `filter`. */
export function Peek({ eventId, filter, onClose, isBelow = false }: PeekProps) {
  const query = useEvent(eventId);
  return (
    <aside
      aria-label="Selected event"
      className={classes(
        'flex w-full shrink-0 flex-col border-line border-l bg-canvas lg:w-[min(46%,640px)]',
        isBelow
          ? 'max-lg:h-1/2 max-lg:border-t max-lg:border-l-0'
          : 'max-lg:absolute max-lg:inset-0 max-lg:z-20 max-md:fixed max-md:top-12',
      )}
    >
      <div className="flex h-11 shrink-0 items-center gap-2 border-line border-b px-3">
        <h2 className="flex-1 font-medium text-sm">Event</h2>
        <SpaceLink page="event" id={eventId} search={filter} className={buttonClasses('plain', 'small')}>
          Open <ArrowUpRight aria-hidden />
        </SpaceLink>
        <IconButton icon={X} label="Close (Esc)" onClick={onClose} />
      </div>
      <div
        className="min-h-0 flex-1 overflow-y-auto p-3"
        tabIndex={0}
        role="region"
        aria-label="Content of the selected event"
      >
        <Loaded query={query} isSmall>
          {(data) => <EventSummary key={data.id} event={data} />}
        </Loaded>
      </div>
    </aside>
  );
}

function EventSummary({ event }: { event: WholeEvent }) {
  const parts = useMemo(() => readEventText(event.event), [event.event]);
  const summary = useRef<HTMLDivElement>(null);
  useFoundMarks(summary, useFoundText(), { scrolls: true });
  return (
    <div ref={summary} className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <TypeBadge type={event.type} />
        <StateBadge state={event.state} />
        <ShownText text={event.name ?? 'unnamed'} className="min-w-0 truncate font-semibold" />
        <span className="text-muted text-sm">{formatDuration(event.durationMs)}</span>
      </div>
      <CallUsage event={event} usage={parts.llm?.usage} />
      <Conversation event={event} parts={parts} />
      <div className="card p-3">
        <EventFields event={event} parts={parts} />
      </div>
    </div>
  );
}
