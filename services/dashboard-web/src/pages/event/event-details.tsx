import { useLocation, useNavigate } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { Conversation } from '../../event/conversation.tsx';
import { EventFields } from '../../event/event-fields.tsx';
import type { WholeEvent } from '../../event/event-query.ts';
import { type EventText, readEventText } from '../../event/event-text.ts';
import { toPlainText } from '../../event/plain-text.ts';
import { filterOf } from '../../filter/conditions.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatDuration } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { JsonTree } from '../../json/json-tree.tsx';
import { Notes } from '../../notes/notes.tsx';
import { CallUsage } from '../../peek/call-usage.tsx';
import { SpaceLink, useSpace } from '../../space/space.tsx';
import { FoundTextProvider, useFoundMarks } from '../../text/found-marks.tsx';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { NumberedText } from '../../text/text-lines.tsx';
import { StateBadge, TypeBadge } from '../../ui/badge.tsx';
import { DownloadLink } from '../../ui/button.tsx';
import { useTitle } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { readHash, writeHash } from '../../url/hash.ts';
import { basePath } from '../../url/page-values.ts';
import { CompareMenu, CopyMenu, Neighbours } from './event-actions.tsx';

const views = [
  { value: 'conversation', label: 'Conversation' },
  { value: 'text', label: 'Text' },
  { value: 'json', label: 'JSON' },
] as const;

type View = (typeof views)[number]['value'];

/** Three views of the payload. A path in the address's hash opens the JSON at that value. */
export function EventDetails({ event }: { event: WholeEvent }) {
  const { search, set } = useFilter();
  const hash = readHash(useLocation().hash);
  const parts = useMemo(() => readEventText(event.event), [event.event]);
  const isLine = /^L\d+$/.test(hash);
  const view =
    views.find(({ value }) => value === search.view)?.value ??
    (hash === '' ? 'conversation' : isLine ? 'text' : 'json');
  const page = useRef<HTMLElement>(null);
  useFoundMarks(page, search.text ?? '', { scrolls: true });
  useTitle(describeText(event.name ?? 'Event'));
  return (
    <FoundTextProvider value={search.text ?? ''}>
      <main
        ref={page}
        id="main"
        tabIndex={-1}
        className="flex h-full min-w-0 flex-col outline-none max-lg:h-auto"
      >
        <EventHeader event={event} parts={parts} />
        <div className="flex min-h-0 flex-1 max-lg:flex-col">
          <div className="flex min-w-0 flex-1 flex-col lg:min-h-0">
            <Tabs
              label="Views"
              tabs={views}
              chosen={view}
              onChoose={(chosen) => set({ view: chosen })}
              className="px-4 md:px-6"
            >
              <EventView event={event} parts={parts} view={view} hash={hash} isLine={isLine} />
            </Tabs>
          </div>
          <FieldsPanel event={event} parts={parts} />
        </div>
      </main>
    </FoundTextProvider>
  );
}

function EventHeader({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const { id: spaceId } = useSpace();
  return (
    <header className="shrink-0 border-line border-b px-4 py-3 md:px-6">
      <Breadcrumb />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 truncate font-semibold text-xl tracking-tight">
          <ShownText text={event.name ?? 'Unnamed event'} />
        </h1>
        <TypeBadge type={event.type} />
        <StateBadge state={event.state} />
        <span className="text-muted text-sm">
          {formatTime(event.startTimeMs)} · {formatDuration(event.durationMs)}
        </span>
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <Neighbours event={event} />
          <CompareMenu event={event} />
          <CopyMenu event={event} parts={parts} />
          <DownloadLink
            href={`${basePath}/raw/${spaceId}/${event.id}`}
            title="The event exactly as it was sent"
          />
        </div>
      </div>
    </header>
  );
}

interface EventViewProps {
  event: WholeEvent;
  parts: EventText;
  view: View;
  hash: string;
  isLine: boolean;
}

/** `hash` is a path of the JSON, or with `isLine` a line of the text. */
function EventView({ event, parts, view, hash, isLine }: EventViewProps) {
  const { search } = useFilter();
  const navigate = useNavigate();
  const setHash = (next: string) =>
    void navigate({ to: '.', search: { ...search, view }, hash: writeHash(next), replace: true });
  switch (view) {
    case 'conversation':
      return (
        <section
          aria-label="Conversation"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto p-4 focus-visible:outline-offset-[-2px] md:px-6"
        >
          <Conversation event={event} parts={parts} />
        </section>
      );
    case 'text':
      return (
        <TextView
          parts={parts}
          line={isLine ? Number(hash.slice(1)) : undefined}
          onLine={(line) => setHash(`L${line}`)}
        />
      );
    case 'json':
      return (
        <div className="flex min-h-0 flex-1 flex-col bg-surface p-2 max-lg:h-[70vh]">
          <JsonTree
            text={event.event}
            label="Event as JSON"
            focusPath={!isLine && hash !== '' ? hash : search.text ? undefined : 'properties'}
            onFocusPath={setHash}
          />
        </div>
      );
  }
}

function FieldsPanel({ event, parts }: { event: WholeEvent; parts: EventText }) {
  return (
    <aside
      aria-label="Fields"
      tabIndex={0}
      className="w-full shrink-0 overflow-y-auto border-line p-4 focus-visible:outline-offset-[-2px] max-lg:border-t lg:w-80 lg:border-l"
    >
      {parts.llm !== undefined && (
        <div className="mb-5">
          <h2 className="label mb-2">Tokens</h2>
          <CallUsage event={event} usage={parts.llm.usage} />
        </div>
      )}
      <h2 className="label mb-2">Notes</h2>
      <div className="mb-5">
        <Notes
          on={{ eventId: event.id }}
          also={[
            ...(event.traceId === null ? [] : [{ traceId: event.traceId }]),
            ...(event.threadId === null ? [] : [{ threadId: event.threadId }]),
          ]}
        />
      </div>
      <h2 className="label mb-2">Fields</h2>
      <EventFields event={event} parts={parts} />
    </aside>
  );
}

function Breadcrumb() {
  const { search } = useFilter();
  return (
    <nav aria-label="Breadcrumb" className="mb-1 flex items-center gap-1 text-faint text-xs">
      <SpaceLink page="events" search={filterOf(search)} className="hover:text-ink hover:underline">
        Events
      </SpaceLink>
      <ChevronRight aria-hidden className="size-3" />
      <span>Event</span>
    </nav>
  );
}

interface TextViewProps {
  parts: EventText;
  line: number | undefined;
  onLine: (line: number) => void;
}

/** The whole conversation as numbered lines, each with its own address. */
function TextView({ parts, line, onLine }: TextViewProps) {
  const text = useMemo(() => toPlainText(parts), [parts]);
  return (
    <div className="flex min-h-0 flex-1 bg-surface max-lg:h-[70vh]">
      <NumberedText text={text} label="Event as text" line={line} onLine={onLine} />
    </div>
  );
}
