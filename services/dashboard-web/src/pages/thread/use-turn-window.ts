import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import type { RefObject } from 'react';
import { keyOf, type ThreadTurn } from './use-thread.ts';

/** The height of a turn until it is measured, in pixels. */
const estimatedHeight = 190;
const gap = 12;
const overscan = 4;

export type TurnWindow = Virtualizer<HTMLDivElement, Element>;

/** The turns near the window, with their positions. The list opens at its end. */
export function useTurnWindow({
  scroller,
  turns,
  current,
}: {
  scroller: RefObject<HTMLDivElement | null>;
  turns: readonly ThreadTurn[];
  /** The turn with the focus. */
  current: number | undefined;
}): TurnWindow {
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
  // A text that is loaded above the window must not push down what is read, also while scrolling up. The middle decides: while
  // several turns are measured at once, the positions after the first are slightly outdated.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ start, end }, _, { scrollOffset }) =>
    (start + end) / 2 <= (scrollOffset ?? 0);
  return list;
}
