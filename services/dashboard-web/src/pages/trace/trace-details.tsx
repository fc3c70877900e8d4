import { CircleX, GitCompareArrows, RefreshCw, ZoomIn } from 'lucide-react';
import { useMemo } from 'react';
import { tokensOf } from '../../event/event-query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount, formatCounted, formatDuration } from '../../format/number.ts';
import { describeCost, sumCosts } from '../../format/priced.ts';
import { formatTime } from '../../format/time.ts';
import { NotesButton } from '../../notes/notes.tsx';
import { Peek } from '../../peek/peek.tsx';
import { SpaceButton } from '../../space/space.tsx';
import { TextLines } from '../../text/text-lines.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Minimap } from './minimap.tsx';
import { type Trace, type TraceRow, toTraceText } from './trace-rows.ts';
import { useTraceView } from './use-trace-view.ts';
import { Waterfall } from './waterfall.tsx';
import type { Span } from './zoom.ts';

interface TraceDetailsProps {
  trace: Trace;
  traceId: string;
  onReload: () => void;
}

export function TraceDetails({ trace, traceId, onReload }: TraceDetailsProps) {
  const { search, set } = useFilter();
  const view = useTraceView(trace);
  const { whole, span, zoom, rows, shown, select, zoomTo } = view;
  const isText = search.view === 'text';
  const visible = zoom === undefined ? undefined : shown.length;
  return (
    <Page
      title="Trace"
      isWide
      subtitle={<TraceSummary trace={trace} traceId={traceId} span={whole} visible={visible} />}
      actions={
        <TraceActions
          view={view}
          traceId={traceId}
          isText={isText}
          onView={() => set({ view: isText ? undefined : 'text' })}
          onReload={onReload}
        />
      }
    >
      <Warnings trace={trace} />
      <div className="relative flex min-h-0 flex-1 border-line border-t max-lg:flex-col">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface">
          {isText ? (
            <TraceText rows={rows} startMs={whole.startMs} selectedId={search.peek} onSelect={select} />
          ) : (
            <>
              <Minimap
                trace={trace}
                span={whole}
                zoom={zoom}
                selectedId={search.peek}
                onSelect={select}
                onZoom={zoomTo}
              />
              <Waterfall rows={rows} span={span} selectedId={search.peek} onSelect={select} />
              <Legend trace={trace} />
            </>
          )}
        </div>
        {search.peek && (
          <Peek eventId={search.peek} filter={{ traceId }} onClose={() => set({ peek: undefined })} isBelow />
        )}
      </div>
    </Page>
  );
}

function TraceActions({
  view: { zoom, errors, showError, zoomTo, zoomCloser, findNext },
  traceId,
  isText,
  onView,
  onReload,
}: {
  view: ReturnType<typeof useTraceView>;
  traceId: string;
  isText: boolean;
  onView: () => void;
  onReload: () => void;
}) {
  return (
    <>
      {zoom !== undefined && (
        <Button size="small" onClick={() => zoomTo(undefined)}>
          Whole trace <kbd>-</kbd>
        </Button>
      )}
      <SearchField label="Find in the trace" value="" onSearch={findNext} />
      <IconButton icon={ZoomIn} label="Zoom in (+)" onClick={zoomCloser} />
      <IconButton icon={RefreshCw} label="Reload the trace" onClick={onReload} />
      {errors.length > 0 && <ErrorButton count={errors.length} onClick={showError} />}
      <Button size="small" onClick={onView} text={isText ? 'Waterfall' : 'Text'} />
      <SpaceButton
        page="compare"
        search={{ of: 'trace', b: traceId }}
        size="small"
        icon={GitCompareArrows}
        text="Compare"
      />
      <NotesButton on={{ traceId }} />
    </>
  );
}

interface TraceSummaryProps {
  trace: Trace;
  traceId: string;
  span: Span;
  visible: number | undefined;
}

/** `visible` is the number of events in the zoomed part. */
function TraceSummary({ trace: { events, gaps }, traceId, span, visible }: TraceSummaryProps) {
  const tokens = events.reduce((sum, event) => sum + (tokensOf(event) ?? 0), 0);
  const cost = sumCosts(events);
  const idleMs = gaps.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <span className="flex items-center gap-1 font-mono text-xs">
        {traceId}
        <CopyButton label="Copy the trace id" text={traceId} />
      </span>
      <span>{formatTime(span.startMs)}</span>
      <span>{formatDuration(span.endMs - span.startMs)}</span>
      <span>
        {visible !== undefined && `${formatCount(visible)} of `}
        {formatCounted(events.length, 'event')}
      </span>
      {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
      {cost !== undefined && <span>{describeCost(cost)}</span>}
      {idleMs > 0 && (
        <span title="Time during which no event of the trace ran">{formatDuration(idleMs)} idle</span>
      )}
    </span>
  );
}

function ErrorButton({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <Button icon={CircleX} size="small" look="danger" aria-keyshortcuts="e" onClick={onClick}>
      {formatCounted(count, 'error')}{' '}
      <kbd aria-hidden className="max-md:hidden">
        e
      </kbd>
    </Button>
  );
}

/** Traces are resolved within a second or two, unless many wait. */
const shownLagMs = 5_000;

const tooManySpans =
  'The trace has more than 10,000 spans. Those of different requests are not related to each other: agents, threads and users may be missing, and a call that two libraries describe may be two events.';

function Warnings({ trace }: { trace: Trace }) {
  const { isComplete, eventsMax, areToolCallsComplete, unresolvedMs, hasTooManySpans, events } = trace;
  const missing = events.filter(({ missingParentId }) => missingParentId !== null).length;
  const texts = [
    !isComplete && `The trace has more events: the newest ${formatCount(eventsMax)} are shown.`,
    hasTooManySpans && tooManySpans,
    !hasTooManySpans &&
      unresolvedMs !== null &&
      unresolvedMs >= shownLagMs &&
      `Spans that came ${formatDuration(unresolvedMs)} ago or later are not related to the others yet: agents, threads and parents may be missing.`,
    !areToolCallsComplete && 'Not all tool calls were read, so some inferred parents are missing.',
    missing > 0 &&
      `${formatCounted(missing, 'event')} ${missing === 1 ? 'names' : 'name'} a parent that has not arrived.`,
  ].filter((text) => text !== false);
  if (texts.length === 0) return null;
  return <p className="shrink-0 bg-warn-soft px-4 py-1.5 text-sm text-warn md:px-6">{texts.join(' ')}</p>;
}

function Legend({ trace: { events, spans } }: { trace: Trace }) {
  const bars = [
    { label: 'LLM call', color: 'bg-llm-line' },
    { label: 'Tool call', color: 'bg-tool-line' },
    { label: 'Error', color: 'bg-bad-line' },
    ...(spans.length > 0 ? [{ label: 'Agent, chain or span', color: 'bg-edge' }] : []),
  ];
  return (
    <p className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-line border-t px-4 py-1.5 text-faint text-xs md:px-6">
      {bars.map(({ label, color }) => (
        <span key={label} className="flex items-center gap-1.5">
          <span aria-hidden className={`size-2 rounded-xs ${color}`} />
          {label}
        </span>
      ))}
      {events.some(({ parent }) => parent?.isInferred) && (
        <span>
          <i>Italics</i>: inferred parent (the client sent none)
        </span>
      )}
    </p>
  );
}

interface TraceTextProps {
  rows: readonly TraceRow[];
  startMs: number;
  selectedId: string | undefined;
  onSelect: (id: string) => void;
}

/** A line for each row, whose number selects its event. */
function TraceText({ rows, startMs, selectedId, onSelect }: TraceTextProps) {
  const lines = useMemo(() => {
    const texts = toTraceText(rows, startMs);
    return { rows: texts, numbers: texts.map((_, index) => index + 1) };
  }, [rows, startMs]);
  const place = rows.findIndex((row) => row.kind === 'event' && row.event.id === selectedId);
  const onLine = (line: number) => {
    const row = rows[line - 1];
    if (row?.kind === 'event') onSelect(row.event.id);
  };
  return (
    <TextLines
      lines={lines}
      label="Trace as text"
      onLine={onLine}
      line={place === -1 ? undefined : place + 1}
    />
  );
}
