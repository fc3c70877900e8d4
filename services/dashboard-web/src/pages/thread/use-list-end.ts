import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import { useReadingPlace } from './use-reading-place.ts';
import type { ThreadTurn } from './use-thread.ts';
import type { TurnWindow } from './use-turn-window.ts';

/** Nearer to the end than this, in pixels, the list stays at its end while texts are loaded. */
const endThreshold = 40;

export interface ListEnd {
  /** Call it for input of the reader, which may leave the end. */
  onMove: () => void;
  onScroll: (node: HTMLElement) => void;
  /** Call it before the list scrolls to a turn. */
  leave: () => void;
}

/**
 * Keeps the list at its newest turn until the reader scrolls: the virtualizer alone loses the end when many texts arrive at once.
 * Away from the end, the turn being read keeps its position.
 */
export function useListEnd({
  scroller,
  turns,
  list,
}: {
  scroller: RefObject<HTMLDivElement | null>;
  turns: readonly ThreadTurn[];
  list: TurnWindow;
}): ListEnd {
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
  const onScroll = (node: HTMLElement) => {
    note(node);
    const { scrollHeight, scrollTop, clientHeight } = node;
    const isNear = scrollHeight - scrollTop - clientHeight < endThreshold;
    if (isNear || isMoved.current) isAtEnd.current = isNear;
    // The virtualizer adjusts the offset for a measured text after this list scrolled to its end.
    else if (isAtEnd.current) node.scrollTop = scrollHeight;
  };
  return { onMove, onScroll, leave };
}
