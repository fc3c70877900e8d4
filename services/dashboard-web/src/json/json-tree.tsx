import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import { useFoundText } from '../text/found-marks.tsx';
import { useVirtualRows } from '../text/use-virtual-rows.ts';
import { classes } from '../ui/classes.ts';
import { JsonLine } from './json-line.tsx';
import { nodeAt } from './node.ts';
import { parsePath } from './path.ts';
import { ancestorsOf, isHit, type JsonRow, openDocument, pathsToHits, toRows } from './rows.ts';

/** A line has buttons, which are 24 pixels high at least. */
const lineHeight = 24;
const overscan = 12;

interface TreeProps {
  text: string;
  label: string;
  /** The value to show at first: without one the first hit of a search. */
  focusPath?: string | undefined;
  onFocusPath?: (path: string) => void;
  /** In a text of its own height, below a maximum; else the tree fills its parent. */
  isEmbedded?: boolean;
}

/** Reads values when their parent is opened, and draws visible lines only. Opened at the hits of a search. */
export function JsonTree(props: TreeProps) {
  const found = useFoundText();
  return <Tree key={found} found={found} {...props} />;
}

function Tree({
  found,
  text,
  label,
  focusPath,
  onFocusPath,
  isEmbedded = false,
}: TreeProps & { found: string }) {
  const { document, rows, toggle } = useRows(text, focusPath, found);
  const [firstPath] = useState(() => focusPath ?? rows.find((row) => isHit(row, document, found))?.path);
  const { list, scroller, current, place, focus, move } = useCursor(rows, firstPath, onFocusPath);
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      aria-activedescendant={place === -1 ? undefined : `${label}-${place}`}
      tabIndex={0}
      onKeyDown={(event) => {
        const action = takeAction(event, rows[place]);
        if (action === 'toggle') toggle(current ?? '');
        else if (action !== undefined) move(place + action);
      }}
      className={classes(
        'overflow-auto rounded-md font-mono text-[0.75rem] leading-6 focus-visible:outline-offset-[-2px]',
        isEmbedded ? 'max-h-96' : 'h-full min-h-0 flex-1',
      )}
    >
      <div role="presentation" className="relative w-max min-w-full" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <JsonLine
              key={key}
              id={`${label}-${index}`}
              row={row}
              document={document}
              isCurrent={index === place}
              top={start}
              position={{ index, count: rows.length }}
              onToggle={() => toggle(row.path)}
              onFocus={() => focus(row.path)}
            />
          );
        })}
      </div>
    </div>
  );
}

function useCursor(
  rows: readonly JsonRow[],
  firstPath: string | undefined,
  onFocusPath: ((path: string) => void) | undefined,
) {
  const [current, setCurrent] = useState(firstPath);
  const { list, scroller } = useVirtualRows({ count: rows.length, height: lineHeight, overscan });
  const place = rows.findIndex(({ path }) => path === current);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the first path scrolls.
  useEffect(() => {
    if (place > 0) list.scrollToIndex(place, { align: 'center' });
  }, []);

  const focus = (path: string) => {
    setCurrent(path);
    onFocusPath?.(path);
  };
  const move = (to: number) => {
    const row = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (row === undefined) return;
    focus(row.path);
    list.scrollToIndex(rows.indexOf(row));
  };
  return { list, scroller, current, place, focus, move };
}

function useRows(text: string, focusPath: string | undefined, found: string) {
  const document = useMemo(() => openDocument(text, nodeAt(text)), [text]);
  const [open, setOpen] = useState(
    () => new Set([...initiallyOpen(focusPath), ...pathsToHits(document, found)]),
  );
  const rows = useMemo(() => toRows(document, open), [document, open]);
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  return { document, rows, toggle };
}

/** The root and the ancestors of the value to show. */
function initiallyOpen(focusPath: string | undefined): ReadonlySet<string> {
  const path = parsePath(focusPath ?? '');
  return new Set([
    '',
    ...(path === undefined ? [] : ancestorsOf(path)),
    ...(focusPath === undefined ? [] : [focusPath]),
  ]);
}

/** Open or close the line, or move by a number of lines. */
type TreeAction = 'toggle' | number;

function takeAction(event: KeyboardEvent, row: JsonRow | undefined): TreeAction | undefined {
  if (event.target !== event.currentTarget) return undefined;
  const action = actionOf(event.key, row);
  if (action !== undefined) event.preventDefault();
  return action;
}

function actionOf(key: string, row: JsonRow | undefined): TreeAction | undefined {
  const isOpen = row?.isOpen === true && row.chunk === undefined && !row.isClose;
  switch (key) {
    case 'ArrowDown':
      return 1;
    case 'ArrowUp':
      return -1;
    case 'ArrowRight':
      return isOpen ? 1 : 'toggle';
    case 'ArrowLeft':
      return isOpen ? 'toggle' : -1;
    case 'Enter':
      return 'toggle';
    case 'Home':
      return Number.NEGATIVE_INFINITY;
    case 'End':
      return Number.POSITIVE_INFINITY;
  }
  return undefined;
}
