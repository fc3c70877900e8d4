import { type Ref, useEffect, useMemo, useState } from 'react';
import { useWorker } from '../api/use-worker.ts';
import { formatCounted } from '../format/number.ts';
import { classes } from '../ui/classes.ts';
import { Loading } from '../ui/loaded.tsx';
import { FindForm } from '../ui/search-field.tsx';
import { useFoundText } from './found-marks.tsx';
import { ignoringCase } from './ignoring-case.ts';
import { ShownText } from './shown-text.tsx';
import { type NumberedLines, numberLines } from './split-lines.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

/** Height of a line that is not wrapped. Line numbers are buttons, at least 24 pixels high. */
const lineHeight = 24;
const overscan = 12;

interface TextLinesProps {
  lines: NumberedLines;
  label: string;
  /** The number of the marked line. */
  line?: number | undefined;
  onLine: (line: number) => void;
}

/** Characters in a line. Longer lines are wrapped. */
const lineChars = 120;

/** A whole text as numbered lines. */
export function NumberedText({ text, ...shown }: Omit<TextLinesProps, 'lines'> & { text: string }) {
  const lines = useLines(text, lineChars);
  if (lines === undefined) return <Loading label="Loading the text" />;
  return <TextLines lines={lines} {...shown} />;
}

/** Longer texts are split in a worker, in characters: these take less time than the start of one. */
const syncCharsMax = 200_000;

const startSplitter = () => new Worker(new URL('./lines-worker.ts', import.meta.url), { type: 'module' });

/** The lines of a text, at most so many characters each; undefined while a long one is being split. */
function useLines(text: string, charsMax: number): NumberedLines | undefined {
  const isShort = text.length <= syncCharsMax;
  const short = useMemo(() => (isShort ? numberLines(text, charsMax) : undefined), [text, charsMax, isShort]);
  const message = useMemo(() => (isShort ? undefined : { text, charsMax }), [text, charsMax, isShort]);
  const long = useWorker<{ text: string; charsMax: number }, NumberedLines>(startSplitter, message);
  return short ?? (long.state === 'done' ? long.result : undefined);
}

/** Draws visible lines only, and the browser finds no others: so there is a search field. */
export function TextLines({ lines, label, line, onLine }: TextLinesProps) {
  const { rows, numbers } = lines;
  const { query, setQuery, matches, next, markOf } = useMatches(lines, line);
  const { list, scroller } = useLineWindow(numbers, line, matches[0]?.row);
  const show = (to: FoundLine | undefined) => {
    if (to === undefined) return;
    onLine(to.number);
    list.scrollToIndex(to.row, { align: 'center' });
  };
  const count = numbers.at(-1) ?? 0;
  const found = formatCounted(matches.length, 'line');
  return (
    <div className="flex h-full min-h-0 flex-1 flex-col">
      <FindForm
        label="Find in the text"
        placeholder="Find in the text (Enter: next)"
        text={query}
        onText={setQuery}
        onFind={() => show(next)}
        status={query === '' ? formatCounted(count, 'line') : `${found} found`}
        className="border-line border-b px-4 py-1.5 md:px-6"
        inputClassName="min-w-0 flex-1 focus-visible:outline-offset-0"
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
              text={rows[index] ?? ''}
              number={numbers[index] ?? 0}
              isFirst={numbers[index] !== numbers[index - 1]}
              digits={String(count).length}
              mark={markOf(index)}
              onLine={onLine}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

/** The lines with the text that is searched for, and the one after the marked line. */
function useMatches(lines: NumberedLines, line: number | undefined) {
  const [query, setQuery] = useState(useFoundText());
  const matches = useMemo(() => findLines(lines, query), [lines, query]);
  const place = matches.findIndex(({ number }) => number === line);
  const markOf = (index: number) => {
    if (lines.numbers[index] === line) return 'current';
    return matches.some(({ row }) => row === index) ? 'match' : undefined;
  };
  return { query, setQuery, matches, next: matches[(place + 1) % matches.length], markOf };
}

/** The rows near the window. Scrolls to a hit once the rows above, first estimated, are measured. */
function useLineWindow(numbers: readonly number[], line: number | undefined, hit: number | undefined) {
  const first = line === undefined ? hit : numbers.indexOf(line);
  const initialOffset = Math.max(0, ((first ?? 0) - 4) * lineHeight);
  const rows = useVirtualRows({ count: numbers.length, height: lineHeight, overscan, initialOffset });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the text that was searched for before scrolls.
  useEffect(() => {
    if (line === undefined && first !== undefined) rows.list.scrollToIndex(first, { align: 'center' });
  }, []);
  return rows;
}

interface LineProps {
  measure: Ref<HTMLDivElement>;
  index: number;
  /** The position in the list, in pixels. */
  top: number;
  text: string;
  /** The number of the line that the row is a part of. */
  number: number;
  /** Whether the line begins here. */
  isFirst: boolean;
  /** The width of the line numbers, in characters. */
  digits: number;
  mark: 'current' | 'match' | undefined;
  onLine: (line: number) => void;
}

function Line({ measure, index, top, text, number, isFirst, digits, mark, onLine }: LineProps) {
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
        aria-label={`Line ${number}`}
        // A wrapped line is one stop for the keyboard, and has one number.
        {...(!isFirst && { tabIndex: -1, 'aria-hidden': true })}
        onClick={() => onLine(number)}
        className="flex shrink-0 justify-end self-stretch pr-3 pl-4 text-faint select-none hover:text-ink md:pl-6"
        style={{ minWidth: `calc(${digits}ch + 2.25rem)` }}
      >
        {isFirst && number}
      </button>
      <ShownText
        text={text}
        dir="auto"
        className="min-w-0 flex-1 whitespace-pre-wrap pr-4 [overflow-wrap:anywhere]"
      />
    </div>
  );
}

/** A line with a text, and the row in which the text begins. */
interface FoundLine {
  number: number;
  row: number;
}

/** The lines with a text, in upper or lower case, also where the text goes on in the next row of its line. */
function findLines({ rows, numbers }: NumberedLines, query: string): FoundLine[] {
  const wanted = ignoringCase(query);
  const found: FoundLine[] = [];
  for (let first = 0; query !== '' && first < rows.length; ) {
    const number = numbers[first] ?? 0;
    let next = first;
    while (next < rows.length && numbers[next] === number) next++;
    let at = rows.slice(first, next).join('').search(wanted);
    if (at !== -1) {
      let row = first;
      for (; row < next - 1 && at >= (rows[row]?.length ?? 0); row++) at -= rows[row]?.length ?? 0;
      found.push({ number, row });
    }
    first = next;
  }
  return found;
}
