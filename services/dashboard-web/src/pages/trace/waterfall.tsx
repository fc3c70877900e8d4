import { Binary, FileSearch, Layers, Link2, UserRound, Users, Workflow } from 'lucide-react';
import { formatCounted, formatDuration } from '../../format/number.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { useVirtualRows } from '../../text/use-virtual-rows.ts';
import { ErrorIcon } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { GridCell, GridRow } from '../../ui/grid-cell.tsx';
import { EventName, EventNumbers, indentPx, nameCell, numbersWidth } from './event-cells.tsx';
import { nameLane, type TraceEvent, type TraceRow } from './trace-rows.ts';
import type { Span } from './zoom.ts';

const rowHeight = 28;
const overscan = 10;

interface WaterfallProps {
  rows: readonly TraceRow[];
  span: Span;
  selectedId: string | undefined;
  onSelect: (id: string) => void;
}

export function Waterfall({ rows, span, selectedId, onSelect }: WaterfallProps) {
  const { list, scroller, lane } = useRowWindow(rows, selectedId);
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Events of the trace"
      aria-rowcount={rows.length}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]"
    >
      {lane?.kind === 'lane' && (
        // The lane of the first visible row, whose own head is above.
        <div aria-hidden className="sticky top-0 z-10 h-0">
          <LaneHead row={lane} index={0} style={{ top: 0 }} />
        </div>
      )}
      <div role="presentation" className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const place = { top: start };
          if (row.kind === 'lane') return <LaneHead key={key} row={row} index={index} style={place} />;
          if (row.kind === 'span')
            return <SpanRow key={key} row={row} index={index} style={place} span={span} />;
          return (
            <EventRow
              key={key}
              row={row}
              index={index}
              style={place}
              span={span}
              isSelected={row.event.id === selectedId}
              onSelect={onSelect}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The rows near the window, which follows the selection, and the lane that its first row is in. */
function useRowWindow(rows: readonly TraceRow[], selectedId: string | undefined) {
  const selected = rows.findIndex((row) => row.kind === 'event' && row.event.id === selectedId);
  const { list, scroller } = useVirtualRows({ count: rows.length, height: rowHeight, overscan, selected });
  const top = Math.floor((list.scrollOffset ?? 0) / rowHeight);
  const lane =
    rows[top]?.kind === 'lane' ? undefined : rows.slice(0, top).findLast(({ kind }) => kind === 'lane');
  return { list, scroller, lane };
}

/** A row of the waterfall, and where it is drawn. */
interface RowProps<Kind extends TraceRow['kind']> {
  row: Extract<TraceRow, { kind: Kind }>;
  index: number;
  style: { top: number };
}

interface EventRowProps extends RowProps<'event'> {
  span: Span;
  isSelected: boolean;
  onSelect: (id: string) => void;
}

function EventRow({ row: { event, depth }, index, style, span, isSelected, onSelect }: EventRowProps) {
  return (
    <GridRow
      index={index + 1}
      isSelected={isSelected}
      onClick={() => onSelect(event.id)}
      className={classes(
        'absolute inset-x-0 flex h-7 cursor-pointer items-center border-line border-b text-sm',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
      )}
      style={style}
    >
      <EventName event={event} depth={depth} />
      <Bar item={event} durationMs={event.durationMs} color={colorOf(event)} span={span} />
      <EventNumbers event={event} />
    </GridRow>
  );
}

const spanKinds = {
  agent: { Icon: UserRound, label: 'Agent run' },
  workflow: { Icon: Workflow, label: 'Workflow' },
  chain: { Icon: Link2, label: 'Chain' },
  retriever: { Icon: FileSearch, label: 'Retriever' },
  embedding: { Icon: Binary, label: 'Embedding' },
  span: { Icon: Layers, label: 'Span' },
} as const;

/** A span that is no event: it has no content, and cannot be opened. */
function SpanRow({ row: { span: node, depth }, index, style, span }: RowProps<'span'> & { span: Span }) {
  const { Icon, label } = spanKinds[node.kind];
  return (
    <GridRow
      index={index + 1}
      className="absolute inset-x-0 flex h-7 cursor-default items-center border-line border-b text-faint text-sm"
      style={style}
    >
      <GridCell className={nameCell} title={label}>
        <Icon aria-label={label} className="size-3.5 shrink-0" style={{ marginLeft: depth * indentPx }} />
        <ShownText text={node.name} className="truncate" />
        {node.state === 'error' && <ErrorIcon />}
      </GridCell>
      <Bar
        item={node}
        durationMs={node.endTimeMs - node.startTimeMs}
        color={node.state === 'error' ? 'bg-bad-line' : 'bg-edge'}
        span={span}
      />
      <span aria-hidden className={numbersWidth} />
    </GridRow>
  );
}

function LaneHead({ row: { lane }, index, style }: RowProps<'lane'>) {
  return (
    <GridRow
      index={index + 1}
      className="absolute inset-x-0 flex h-7 items-center border-line border-b bg-sunken px-4 md:px-6"
      style={style}
    >
      <GridCell className="flex min-w-0 items-center gap-2 text-xs">
        <Users aria-hidden className="size-3.5 shrink-0 text-faint" />
        <ShownText text={nameLane(lane)} className="truncate font-medium" />
        <span className="whitespace-nowrap text-faint">
          {formatCounted(lane.events, 'event')}
          {lane.errors > 0 && `, ${formatCounted(lane.errors, 'error')}`}
        </span>
      </GridCell>
    </GridRow>
  );
}

/** Bars that end after this fraction of the width have the duration at their left. */
const leftFrom = 0.75;

/** Where a bar leaves less room at its left, the duration is on the bar. */
const labelWidth = '3.5rem';

function colorOf({ state, type }: TraceEvent): string {
  return state === 'error' ? 'bg-bad-line' : type === 'llm' ? 'bg-llm-line' : 'bg-tool-line';
}

interface BarProps {
  item: { startTimeMs: number; endTimeMs: number };
  durationMs: number;
  color: string;
  span: Span;
}

function Bar({ item, durationMs, color, span }: BarProps) {
  const totalMs = span.endMs - span.startMs;
  const share = (ms: number) => Math.min(1, Math.max(0, (ms - span.startMs) / totalMs));
  const left = share(item.startTimeMs);
  const width = Math.max(0, share(item.endTimeMs) - left);
  const isLeft = left + width > leftFrom;
  return (
    <GridCell className="relative mx-2 h-full flex-1 bg-inherit">
      <div
        className={classes('absolute top-2 h-3 min-w-[3px] rounded-xs', color)}
        style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
      />
      <span
        className={classes(
          'absolute top-1.5 px-1.5 text-faint text-xs whitespace-nowrap',
          isLeft && 'rounded-xs bg-inherit',
        )}
        style={
          isLeft
            ? { right: `min(${(1 - left) * 100}%, calc(100% - ${labelWidth}))` }
            : { left: `${(left + width) * 100}%` }
        }
      >
        {formatDuration(durationMs)}
      </span>
    </GridCell>
  );
}
