import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import { keyOf, type ThreadTurn } from './use-thread.ts';

/** Row heights may settle for this time after earlier turns are prepended, in milliseconds. */
const holdMs = 2_000;

/** Keeps the read turn in place when turns are prepended: right after a scroll the virtualizer fails. */
export function useReadingPlace({
  scroller,
  turns,
  isAtEnd,
  show,
}: {
  scroller: RefObject<HTMLElement | null>;
  turns: readonly ThreadTurn[];
  isAtEnd: RefObject<boolean>;
  /** Scrolls to a turn that is not in the page. */
  show: (index: number) => void;
}): ReadingPlace {
  const read = useRef<Place>(undefined);
  const held = useRef<Place & { untilMs: number }>(undefined);
  const oldest = turns[0] && keyOf(turns[0]);
  const oldestBefore = useRef(oldest);
  const note = (node: HTMLElement) => {
    if (held.current === undefined) read.current = findPlace(node, turns);
  };
  // After every render, since a measured text causes one.
  useLayoutEffect(() => {
    const node = scroller.current;
    if (node === null) return;
    const hasMore = oldestBefore.current !== oldest;
    oldestBefore.current = oldest;
    if (hasMore && read.current !== undefined && !isAtEnd.current) {
      held.current = { ...read.current, untilMs: performance.now() + holdMs };
    }
    if (held.current === undefined || performance.now() > held.current.untilMs) {
      held.current = undefined;
      note(node);
      return;
    }
    const { key, top } = held.current;
    const index = turns.findIndex((turn) => keyOf(turn) === key);
    const card = node.querySelector(`[data-index="${index}"]`);
    if (card === null) return show(index);
    const moved = topOf(card, node) - top;
    if (Math.abs(moved) >= 1) node.scrollTop += moved;
  });
  const release = useCallback(() => {
    held.current = undefined;
  }, []);
  return { note, release };
}

export interface ReadingPlace {
  /** The list was scrolled. */
  note: (node: HTMLElement) => void;
  /** The reader scrolls: the position is no longer held. */
  release: () => void;
}

/** A turn, and how far below the top of the list it is shown. */
interface Place {
  key: string;
  top: number;
}

/** The first turn that is at least partly visible. */
function findPlace(node: HTMLElement, turns: readonly ThreadTurn[]): Place | undefined {
  for (const card of node.querySelectorAll<HTMLElement>('[data-index]')) {
    const turn = turns[Number(card.dataset.index)];
    const top = topOf(card, node);
    if (turn !== undefined && top + card.offsetHeight > 0) return { key: keyOf(turn), top };
  }
  return undefined;
}

function topOf(card: Element, node: HTMLElement): number {
  return card.getBoundingClientRect().top - node.getBoundingClientRect().top;
}
