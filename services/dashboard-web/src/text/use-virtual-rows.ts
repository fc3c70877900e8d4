import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useRef } from 'react';

interface RowOptions {
  count: number;
  /** The height of a row until it is measured, in pixels. */
  height: number;
  /** Rows that are drawn beyond the window. */
  overscan: number;
  /** Where the list opens, in pixels. */
  initialOffset?: number;
  /** The place of the selected row, to which the list scrolls when it changes; -1 without one. */
  selected?: number;
}

/** The rows near the window of a list, which scrolls in the element of `scroller`. */
export function useVirtualRows({ count, height, overscan, initialOffset = 0, selected = -1 }: RowOptions) {
  const scroller: RefObject<HTMLDivElement | null> = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    initialOffset,
    overscan,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new selection scrolls.
  useEffect(() => {
    if (selected !== -1) list.scrollToIndex(selected);
  }, [selected]);
  return { list, scroller };
}
