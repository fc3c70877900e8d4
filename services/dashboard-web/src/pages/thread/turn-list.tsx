import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  type HTMLAttributes,
  type RefObject,
  type UIEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import { useShortcuts } from '../../settings/settings.ts';
import { FailureNotice } from '../../ui/loaded.tsx';
import { TurnCard } from './turn-card.tsx';
import { useReadingPlace } from './use-reading-place.ts';
import { keyOf, type ThreadTurn, type useThread } from './use-thread.ts';

/** Turns above the window below which earlier ones are loaded. */
const loadAhead = 8;

interface FeedProps {
  thread: ReturnType<typeof useThread>;
  /** The turn with the focus: by j and k, by the search, or from the address. */
  current: number | undefined;
  onCurrent: (place: number) => void;
}

interface Scrolled {
  scroller: RefObject<HTMLDivElement | null>;
  turns: readonly ThreadTurn[];
}

interface CurrentTurn extends Scrolled, Omit<FeedProps, 'thread'> {
  list: TurnWindow;
  end: ListEnd;
}

/** Draws turns near the window, and opens at the end. The turn being read keeps its position. */
export function TurnList({ thread, current, onCurrent }: FeedProps) {
  const { turns, hasNextPage, isFetchingNextPage, fetchNextPage, isFetchNextPageError, error } = thread;
  const scroller = useRef<HTMLDivElement>(null);
  const list = useTurnWindow({ scroller, turns, current });
  const end = useListEnd({ scroller, turns, list });
  useCurrentTurn({ scroller, turns, list, end, current, onCurrent });

  // After `getVirtualItems`: before, it is where the window was in the turns that were loaded until now.
  const near = list.getVirtualItems();
  const first = list.range?.startIndex ?? turns.length;
  useEffect(() => {
    const isIdle = !isFetchingNextPage && !isFetchNextPageError;
    if (hasNextPage && isIdle && first < loadAhead) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, first, fetchNextPage]);

  return (
    <div
      ref={scroller}
      role="feed"
      aria-label="Turns"
      aria-busy={isFetchingNextPage}
      {...end.listeners}
      className="min-h-0 flex-1 overflow-y-auto border-line border-t px-4 [overflow-anchor:none] md:px-6"
    >
      <div role="presentation" className="relative mx-auto max-w-5xl" style={{ height: list.getTotalSize() }}>
        {hasNextPage && (
          <EarlierNotice error={isFetchNextPageError ? error : null} onRetry={() => void fetchNextPage()} />
        )}
        {near.map(({ index, start, key: itemKey }) => {
          const turn = turns[index];
          if (turn === undefined) return null;
          return (
            <TurnCard
              key={itemKey}
              measure={list.measureElement}
              index={index}
              top={start}
              count={hasNextPage ? undefined : turns.length}
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

/** The focus follows the turn of the address; j and k choose another. */
function useCurrentTurn({ scroller, turns, list, end, current, onCurrent }: CurrentTurn): void {
  const { onMove, leave } = end;
  const focused = useRef<string>(undefined);
  const key = current === undefined || turns[current] === undefined ? undefined : keyOf(turns[current]);
  useEffect(() => {
    if (key === undefined || current === undefined || focused.current === key) return;
    focused.current = key;
    onMove();
    const turn = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`);
    // A click into a turn has focused it, and must not scroll.
    if (turn?.contains(document.activeElement)) return;
    turn?.focus({ preventScroll: true });
    // A text that is measured before the scroll event would scroll back to the end.
    leave();
    list.scrollToIndex(current, { align: 'start' });
  }, [key, current, list, scroller, onMove, leave]);
  const step = (by: number) => {
    const from = current ?? (by < 0 ? turns.length : (list.range?.startIndex ?? 0) - 1);
    onCurrent(Math.max(0, Math.min(turns.length - 1, from + by)));
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
}

function EarlierNotice({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div role="status" className="absolute inset-x-0 top-0 z-10 text-center text-faint text-xs">
      {error === null ? 'Loading earlier turns …' : <FailureNotice error={error} onRetry={onRetry} isSmall />}
    </div>
  );
}

/** Nearer to the end the list stays there while texts are loaded. */
const endThreshold = 40;

interface ListEnd {
  /** Call it for input of the reader, which may leave the end. */
  onMove: () => void;
  listeners: Pick<
    HTMLAttributes<HTMLElement>,
    'onWheel' | 'onTouchMove' | 'onPointerDown' | 'onKeyDown' | 'onFocus' | 'onScroll'
  >;
  /** Call it before the list scrolls to a turn. */
  leave: () => void;
}

/** Keeps the newest turn in view until the reader scrolls: the virtualizer loses it as texts arrive. */
function useListEnd({ scroller, turns, list }: Scrolled & { list: TurnWindow }): ListEnd {
  const isAtEnd = useRef(true);
  const { note, release } = useReadingPlace({
    scroller,
    turns,
    isAtEnd,
    show: (index) => list.scrollToIndex(index, { align: 'start' }),
  });
  // Growing texts cause scroll events too: only input of the reader leaves the end.
  const isMoved = useRef(false);
  const onMove = useCallback(() => {
    isMoved.current = true;
    release();
  }, [release]);
  const leave = useCallback(() => {
    isAtEnd.current = false;
  }, []);
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the height.
  useLayoutEffect(() => {
    if (scroller.current !== null && isAtEnd.current)
      scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [height]);
  const onScroll = ({ currentTarget: node }: UIEvent<HTMLElement>) => {
    note(node);
    const { scrollHeight, scrollTop, clientHeight } = node;
    const isNear = scrollHeight - scrollTop - clientHeight < endThreshold;
    if (isNear || isMoved.current) isAtEnd.current = isNear;
    // The virtualizer adjusts the offset for a measured text after this list scrolled to its end.
    else if (isAtEnd.current) node.scrollTop = scrollHeight;
  };
  const onInput = { onWheel: onMove, onTouchMove: onMove, onPointerDown: onMove, onKeyDown: onMove };
  return { onMove, leave, listeners: { ...onInput, onFocus: onMove, onScroll } };
}

/** The height of a turn until it is measured, in pixels. */
const estimatedHeight = 190;
const gap = 12;
const overscan = 4;

type TurnWindow = Virtualizer<HTMLDivElement, Element>;

/** The turns near the window, with their positions. The list opens at its end. */
function useTurnWindow({ scroller, turns, current }: Scrolled & Pick<FeedProps, 'current'>): TurnWindow {
  const list = useVirtualizer<HTMLDivElement, Element>({
    count: turns.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => (turns[index] === undefined ? index : keyOf(turns[index])),
    estimateSize: () => estimatedHeight,
    initialOffset: turns.length * (estimatedHeight + gap),
    anchorTo: 'end',
    overscan,
    gap,
    paddingStart: gap,
    // The turn with the focus stays in the page, otherwise the focus would be lost.
    rangeExtractor: (range) => {
      const near = defaultRangeExtractor(range);
      return current === undefined || near.includes(current)
        ? near
        : [...near, current].sort((a, b) => a - b);
    },
  });
  // A text loaded above the window must not push down what is read. The middle decides: while several turns
  // are measured, positions after the first are slightly outdated.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ start, end }, _, { scrollOffset }) =>
    (start + end) / 2 <= (scrollOffset ?? 0);
  return list;
}
