import { UnfoldVertical } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { ShownText } from '../text/shown-text.tsx';
import { useVirtualRows } from '../text/use-virtual-rows.ts';
import { classes } from '../ui/classes.ts';
import {
  type DiffRow,
  type Fold,
  foldUnchanged,
  type LineRun,
  type PairedRow,
  pairRows,
  toRows,
} from './changes.ts';

export type DiffLook = 'split' | 'unified';

/** What follows a row of two sides, by the place of its line in each text; -1 in a text without it. */
export type RowNote = (before: number, after: number) => ReactNode;

/** Height of a line that fits, in pixels; longer lines wrap. */
const lineHeight = 21;
const overscan = 12;
/** Characters of a longer line that are drawn. */
const lineChars = 2_000;

interface DiffViewProps {
  before: readonly string[];
  after: readonly string[];
  runs: readonly LineRun[];
  look: DiffLook;
  note?: RowNote | undefined;
}

/** Draws visible lines only. Changes have a sign beside their colour. */
export function DiffView({ before, after, runs, look, note }: DiffViewProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => toRows(before, after, runs), [before, after, runs]);
  const shown = useMemo<(DiffRow | PairedRow | Fold)[]>(() => {
    const folded = foldUnchanged(rows, opened);
    return look === 'split' ? pairRows(folded) : folded;
  }, [rows, opened, look]);
  const { list, scroller } = useVirtualRows({ count: shown.length, height: lineHeight, overscan });
  return (
    <section
      ref={scroller}
      aria-label="Differences"
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto bg-surface font-mono text-[0.75rem] focus-visible:outline-offset-[-2px]"
    >
      <div className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key }) => {
          const row = shown[index];
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="absolute left-0 flex min-h-[21px] w-full items-stretch whitespace-pre-wrap [overflow-wrap:anywhere]"
              style={{ top: start }}
            >
              {row !== undefined && (
                <Row row={row} note={note} onOpen={(at) => setOpened(new Set([...opened, at]))} />
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

interface RowProps {
  row: DiffRow | PairedRow | Fold;
  note: RowNote | undefined;
  onOpen: (fold: number) => void;
}

function Row({ row, note, onOpen }: RowProps) {
  if (row.kind === 'fold') return <FoldLine fold={row} onOpen={() => onOpen(row.at)} />;
  if (row.kind !== 'pair') return <Line row={row} numbers={[row.before, row.after]} />;
  return (
    <>
      <Side row={row.left} number={row.left?.before} />
      <Side row={row.right} number={row.right?.after} />
      {note?.((row.left?.before ?? 0) - 1, (row.right?.after ?? 0) - 1)}
    </>
  );
}

function Side({ row, number }: { row: DiffRow | undefined; number: number | undefined }) {
  return (
    <div className="flex w-1/2 min-w-0 border-line not-first:border-l">
      {row === undefined ? <div className="flex-1 bg-sunken" /> : <Line row={row} numbers={[number]} />}
    </div>
  );
}

const backgrounds = { same: '', removed: 'bg-bad-soft', added: 'bg-good-soft' };
const signs = { same: ' ', removed: '−', added: '+' };

function Line({ row: { kind, text }, numbers }: { row: DiffRow; numbers: readonly (number | undefined)[] }) {
  const cut = text.length > lineChars ? `${text.slice(0, lineChars)}` : text;
  return (
    <div className={classes('flex min-w-0 flex-1 items-start leading-[21px]', backgrounds[kind])}>
      {numbers.map((number, side) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the two texts never change places.
        <span key={side} className="w-12 shrink-0 pr-2 text-right text-faint select-none">
          {number}
        </span>
      ))}
      <span
        className={classes(
          'w-5 shrink-0 text-center select-none',
          kind === 'removed' ? 'text-bad' : kind === 'added' && 'text-good',
        )}
      >
        <span aria-hidden>{signs[kind]}</span>
        {kind !== 'same' && <span className="sr-only">{kind}</span>}
      </span>
      <span className="min-w-0 flex-1 pr-4" data-line={kind}>
        {kind === 'same' ? <ShownText text={cut} /> : <ExactText text={cut} />}
        {cut.length < text.length && (
          <span className="text-faint">
            … {(text.length - cut.length).toLocaleString('en')} more characters
          </span>
        )}
      </span>
    </div>
  );
}

function FoldLine({ fold, onOpen }: { fold: Fold; onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      className="flex min-w-full items-center gap-2 bg-sunken px-3 font-sans text-muted hover:bg-hover hover:text-ink"
    >
      <UnfoldVertical aria-hidden className="size-3.5" />
      {fold.count.toLocaleString('en')} unchanged lines
    </button>
  );
}

const spaces = 'bg-[radial-gradient(circle,var(--color-faint)_1px,transparent_1.4px)] bg-[length:1ch_100%]';
const tab =
  'bg-[linear-gradient(var(--color-faint),var(--color-faint))] bg-[length:90%_1px] bg-center bg-no-repeat';

/** What is easily overlooked: spaces at the start and the end, more than one, and tabs. */
const hidden = /(^ +| {2,}| +$|\t)/;

/** A changed line in which such spaces and tabs are visible. Copying it gives the original text. */
function ExactText({ text }: { text: string }) {
  return text.split(hidden).map((part, index) => {
    // A pattern with one group: every second part is a match.
    if (index % 2 === 0) {
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
      return <ShownText key={index} text={part} />;
    }
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
      <span key={index} className={part === '\t' ? tab : spaces}>
        {part}
      </span>
    );
  });
}
