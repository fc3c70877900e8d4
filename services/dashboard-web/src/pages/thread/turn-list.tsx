import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { useShortcuts } from '../../settings/shortcuts.ts';
import { FailureNotice } from '../../ui/states.tsx';
import { TurnCard } from './turn-card.tsx';
import { useReadingPlace } from './use-reading-place.ts';
import { keyOf, type ThreadTurn } from './use-thread.ts';

/** What a turn is taken to be high, in pixels, until it was drawn. */
const estimatedHeight = 190;
const gap = 12;
const overscan = 4;
/** Earlier turns are loaded when so few are left above the window. */
const loadAhead = 8;
/** Nearer to the end than this, the list stays at its end while texts are loaded. */
const endThreshold = 40;

/**
 * Turns of any height, of which only those near the window are in the page. It begins at the end. What is looked at stays in its place
 * when earlier turns come, and when the texts above it are loaded.
 */
export function TurnList({
  turns,
  current,
  onCurrent,
  hasEarlier,
  isLoading,
  failure,
  onLoadEarlier,
}: {
  turns: readonly ThreadTurn[];
  /** The turn that has the focus, on j and k or since it was found. */
  current: number | undefined;
  onCurrent: (place: number) => void;
  hasEarlier: boolean;
  isLoading: boolean;
  /** Why earlier turns could not be loaded. */
  failure: unknown;
  onLoadEarlier: () => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => (turns[index] === undefined ? index : keyOf(turns[index])),
    estimateSize: () => estimatedHeight,
    initialOffset: turns.length * (estimatedHeight + gap),
    anchorTo: 'end',
    overscan,
    gap,
    paddingStart: gap,
    // The turn with the focus stays in the page: the focus would be lost with it.
    rangeExtractor: (range) => {
      const near = defaultRangeExtractor(range);
      return current === undefined || near.includes(current)
        ? near
        : [...near, current].sort((a, b) => a - b);
    },
  });
  // Texts are loaded late. One above the window that grows must not push down what is read, also while scrolling up. By its
  // middle: while several are measured at once, the places of those after the first are a little old.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ start, end }, _, { scrollOffset }) =>
    (start + end) / 2 <= (scrollOffset ?? 0);

  // Whoever reads the newest turn stays there until they scroll: the virtualizer alone loses the end when many texts come at once.
  const isAtEnd = useRef(true);
  const { note, release } = useReadingPlace({
    scroller,
    turns,
    isAtEnd,
    show: (index) => list.scrollToIndex(index, { align: 'start' }),
  });
  // Texts that grow scroll, too: only a person leaves the end.
  const isMoved = useRef(false);
  const onMove = () => {
    isMoved.current = true;
    release();
  };
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is another end.
  useLayoutEffect(() => {
    if (scroller.current !== null && isAtEnd.current)
      scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [height]);

  const first = list.range?.startIndex ?? turns.length;
  useEffect(() => {
    if (hasEarlier && !isLoading && failure === undefined && first < loadAhead) onLoadEarlier();
  }, [hasEarlier, isLoading, failure, first, onLoadEarlier]);

  const focused = useRef<string>(undefined);
  const key = current === undefined || turns[current] === undefined ? undefined : keyOf(turns[current]);
  useEffect(() => {
    if (key === undefined || current === undefined || focused.current === key) return;
    focused.current = key;
    isMoved.current = true;
    release();
    const turn = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`);
    // A click into a turn has focused it, and must not scroll.
    if (turn?.contains(document.activeElement)) return;
    turn?.focus({ preventScroll: true });
    list.scrollToIndex(current, { align: 'start' });
  }, [key, current, list, release]);
  const step = (by: number) => {
    const from = current ?? (by < 0 ? turns.length : (list.range?.startIndex ?? 0) - 1);
    onCurrent(Math.max(0, Math.min(turns.length - 1, from + by)));
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });

  return (
    <div
      ref={scroller}
      role="feed"
      aria-label="Turns"
      aria-busy={isLoading}
      onWheel={onMove}
      onTouchMove={onMove}
      onPointerDown={onMove}
      onKeyDown={onMove}
      onFocus={onMove}
      onScroll={({ currentTarget }) => {
        note(currentTarget);
        const { scrollHeight, scrollTop, clientHeight } = currentTarget;
        const isNear = scrollHeight - scrollTop - clientHeight < endThreshold;
        if (isNear || isMoved.current) isAtEnd.current = isNear;
        // The virtualizer corrects for a text that was measured, after this list went to its end.
        else if (isAtEnd.current) currentTarget.scrollTop = scrollHeight;
      }}
      className="min-h-0 flex-1 overflow-y-auto border-line border-t px-4 [overflow-anchor:none] md:px-6"
    >
      <div role="presentation" className="relative mx-auto max-w-5xl" style={{ height }}>
        {hasEarlier && (
          <div role="status" className="absolute inset-x-0 top-0 z-10 text-center text-faint text-xs">
            {failure === undefined ? (
              'Loading earlier turns …'
            ) : (
              <FailureNotice error={failure} onRetry={onLoadEarlier} isSmall />
            )}
          </div>
        )}
        {list.getVirtualItems().map(({ index, start, key: itemKey }) => {
          const turn = turns[index];
          if (turn === undefined) return null;
          return (
            <TurnCard
              key={itemKey}
              place={list.measureElement}
              index={index}
              top={start}
              count={hasEarlier ? undefined : turns.length}
              turn={turn}
              before={turns[index - 1]}
              isCurrent={index === current}
              onFocus={() => onCurrent(index)}
            />
          );
        })}
      </div>
    </div>
  );
}
