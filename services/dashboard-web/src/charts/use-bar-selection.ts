import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

/** Bars from `from` up to `to`, which is not included. */
export interface BarRange {
  from: number;
  to: number;
}

/** What is chosen by pointer or keyboard: from the bar where it began to the bar that it has reached. */
export interface BarChoice {
  anchor: number;
  head: number;
}

/** A selection of bars: by a drag or a click, or by the arrow keys, Shift and Enter. `onRange` is called at its end. */
export function useBarSelection(count: number, onRange: (from: number, to: number) => void) {
  const area = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<BarChoice>();
  const [keyed, setKeyed] = useState<BarChoice>();
  const [hovered, setHovered] = useState<number>();
  const barAt = ({ clientX }: PointerEvent) => {
    const box = area.current?.getBoundingClientRect();
    const share = box === undefined ? 0 : (clientX - box.left) / box.width;
    return Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  };
  const choose = (choice: BarChoice) => {
    const { from, to } = barRange(choice);
    onRange(from, to);
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      area.current?.setPointerCapture(event.pointerId);
      setKeyed(undefined);
      setDrag({ anchor: barAt(event), head: barAt(event) });
    },
    onPointerMove: (event: PointerEvent) => {
      const head = barAt(event);
      setHovered(head);
      if (drag !== undefined) setDrag({ ...drag, head });
    },
    onPointerUp: () => {
      if (drag === undefined) return;
      setDrag(undefined);
      choose(drag);
    },
    onPointerLeave: () => setHovered(undefined),
    onBlur: () => {
      setKeyed(undefined);
      setHovered(undefined);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' && keyed !== undefined) {
        event.preventDefault();
        setKeyed(undefined);
        return choose(keyed);
      }
      const next = moveChoice(keyed, event, count);
      if (next === undefined) return;
      event.preventDefault();
      setKeyed(next);
      setHovered(next.head);
    },
  };
  const marked = drag ?? keyed;
  return { area, hovered, handlers, marked: marked && barRange(marked) };
}

/** The bars of a choice, from the first to the last. */
export function barRange({ anchor, head }: BarChoice): BarRange {
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) + 1 };
}

/** The choice after a key; undefined for keys that do not change it. */
export function moveChoice(
  choice: BarChoice | undefined,
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  count: number,
): BarChoice | undefined {
  const last = count - 1;
  const at = choice?.head ?? last;
  const heads: Record<string, number> = {
    ArrowLeft: choice === undefined ? last : Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  const head = heads[key];
  if (head === undefined || last < 0) return undefined;
  return { anchor: shiftKey ? (choice?.anchor ?? at) : head, head };
}
