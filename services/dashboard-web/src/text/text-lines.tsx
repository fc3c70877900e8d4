import { useVirtualizer } from '@tanstack/react-virtual';
import { Search } from 'lucide-react';
import { type FormEvent, type Ref, useMemo, useRef, useState } from 'react';
import { formatCounted } from '../format/number.ts';
import { useShortcuts } from '../settings/shortcuts.ts';
import { classes } from '../ui/classes.ts';
import { ShownText } from './shown-text.tsx';

/**
 * The height of a line that is not wrapped, in pixels. Line numbers are buttons, which are at least 24 pixels
 * high.
 */
const lineHeight = 24;
const overscan = 12;

/**
 * A long text with numbered lines. Only the visible lines are in the page, and the browser's own search finds
 * only those, so there is a search field.
 */
export function TextLines({
  lines,
  label,
  line,
  onLine,
}: {
  lines: readonly string[];
  label: string;
  /** The marked line, from 1. */
  line?: number | undefined;
  onLine: (line: number) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState('');
  const matches = useMemo(() => findLines(lines, query), [lines, query]);
  const list = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    initialOffset: line === undefined ? 0 : Math.max(0, (line - 5) * lineHeight),
    overscan,
  });
  const place = matches.indexOf(line ?? 0);
  const show = (to: number | undefined) => {
    if (to === undefined) return;
    onLine(to);
    list.scrollToIndex(to - 1, { align: 'center' });
  };
  const width = String(lines.length).length;
  return (
    <div className="flex h-full min-h-0 flex-1 flex-col">
      <FindForm
        query={query}
        onQuery={setQuery}
        onNext={() => show(matches[(place + 1) % matches.length])}
        status={
          query === ''
            ? formatCounted(lines.length, 'line')
            : `${formatCounted(matches.length, 'line')} found`
        }
      />
      <section
        ref={scroller}
        aria-label={label}
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto font-mono text-[0.75rem] leading-6"
      >
        <div className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start, key }) => (
            <Line
              key={key}
              measure={list.measureElement}
              index={index}
              top={start}
              text={lines[index] ?? ''}
              digits={width}
              mark={index + 1 === line ? 'current' : matches.includes(index + 1) ? 'match' : undefined}
              onLine={onLine}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

/** The search field above the text. */
function FindForm({
  query,
  onQuery,
  onNext,
  status,
}: {
  query: string;
  onQuery: (query: string) => void;
  onNext: () => void;
  status: string;
}) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    onNext();
  };
  return (
    <form onSubmit={onSubmit} className="flex items-center gap-2 border-line border-b px-4 py-1.5 md:px-6">
      <Search aria-hidden className="size-3.5 text-faint" />
      <input
        ref={field}
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        aria-label="Find in the text"
        placeholder="Find in the text (Enter: next)"
        className="h-7 min-w-0 flex-1 bg-transparent text-sm placeholder:text-faint focus-visible:outline-offset-0"
      />
      <span role="status" className="text-faint text-xs">
        {status}
      </span>
    </form>
  );
}

function Line({
  measure,
  index,
  top,
  text,
  digits,
  mark,
  onLine,
}: {
  measure: Ref<HTMLDivElement>;
  index: number;
  /** The position in the list, in pixels. */
  top: number;
  text: string;
  /** The width of the line numbers, in characters. */
  digits: number;
  mark: 'current' | 'match' | undefined;
  onLine: (line: number) => void;
}) {
  return (
    <div
      ref={measure}
      data-index={index}
      className={classes(
        'absolute inset-x-0 flex min-h-6',
        mark === 'current' && 'bg-accent-soft',
        mark === 'match' && 'bg-warn-soft',
      )}
      style={{ top }}
    >
      <button
        type="button"
        aria-label={`Line ${index + 1}`}
        onClick={() => onLine(index + 1)}
        className="flex shrink-0 justify-end self-stretch pr-3 pl-4 text-faint select-none hover:text-ink md:pl-6"
        style={{ minWidth: `calc(${digits}ch + 1.75rem)` }}
      >
        {index + 1}
      </button>
      <span dir="auto" className="min-w-0 flex-1 whitespace-pre-wrap pr-4 [overflow-wrap:anywhere]">
        <ShownText text={text} />
      </span>
    </div>
  );
}

/** The numbers of the lines with a text, in upper or lower case. */
function findLines(lines: readonly string[], query: string): number[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [];
  return lines.flatMap((text, index) => (text.toLowerCase().includes(wanted) ? [index + 1] : []));
}
