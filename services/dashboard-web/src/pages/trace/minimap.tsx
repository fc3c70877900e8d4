import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { resolveColor, useScheme } from '../../charts/colors.ts';
import { formatDuration } from '../../format/number.ts';
import type { Trace } from './trace-rows.ts';
import type { Span } from './zoom.ts';

const heightMax = 56;
/** Height of a lane in pixels, if there is room: LLM calls above, tool calls below. */
const laneMax = 24;
const barMax = 8;
const barMin = 3;

/** A shorter drag is a click. */
const dragPx = 4;

interface MinimapProps {
  trace: Trace;
  /** The time of the whole trace. */
  span: Span;
  zoom: Span | undefined;
  selectedId: string | undefined;
  onSelect: (id: string | undefined) => void;
  onZoom: (span: Span) => void;
}

/** A click selects the event nearest in time, a drag zooms. */
export function Minimap({ trace, span, zoom, selectedId, onSelect, onZoom }: MinimapProps) {
  const height = Math.min(heightMax, Math.max(1, trace.lanes.length) * laneMax + 4);
  const canvas = useDrawing({ trace, span, selectedId, height });
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const msAt = (place: number) => span.startMs + place * (span.endMs - span.startMs);
  const onDown = (event: PointerEvent<HTMLCanvasElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: placeOf(event), to: placeOf(event) });
  };
  const onUp = (event: PointerEvent<HTMLCanvasElement>) => {
    const from = drag?.from ?? placeOf(event);
    const to = placeOf(event);
    setDrag(undefined);
    if (Math.abs(to - from) * event.currentTarget.clientWidth < dragPx)
      onSelect(findNearest(trace, msAt(to)));
    else onZoom({ startMs: msAt(Math.min(from, to)), endMs: msAt(Math.max(from, to)) });
  };
  return (
    <div className="shrink-0 border-line border-b px-4 pt-2 pb-1 md:px-6">
      <div className="relative">
        <canvas
          ref={canvas}
          height={height}
          aria-hidden
          onPointerDown={onDown}
          onPointerMove={(event) => drag && setDrag({ ...drag, to: placeOf(event) })}
          onPointerUp={onUp}
          onPointerCancel={() => setDrag(undefined)}
          className="block w-full cursor-crosshair touch-none"
          style={{ height }}
        />
        <Shade
          part={drag ?? (zoom && { from: shareOf(zoom.startMs, span), to: shareOf(zoom.endMs, span) })}
        />
      </div>
      <div className="flex justify-between text-faint text-xs">
        <span>0</span>
        <span>{formatDuration((span.endMs - span.startMs) / 2)}</span>
        <span>{formatDuration(span.endMs - span.startMs)}</span>
      </div>
    </div>
  );
}

interface Drawing {
  trace: Trace;
  span: Span;
  selectedId: string | undefined;
  height: number;
}

/** Drawn again for another width or theme. */
function useDrawing({ trace, span, selectedId, height }: Drawing) {
  const scheme = useScheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours.
  useEffect(() => {
    const target = canvas.current;
    if (target === null) return;
    const paint = () => draw(target, { trace, span, selectedId, height });
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(target);
    return () => observer.disconnect();
  }, [trace, span, selectedId, scheme, height]);
  return canvas;
}

/** A fraction of the width. */
function placeOf({ currentTarget, clientX }: PointerEvent<HTMLCanvasElement>): number {
  const box = currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (clientX - box.left) / box.width));
}

function findNearest({ events }: Trace, atMs: number): string | undefined {
  const distance = ({ startTimeMs, endTimeMs }: Trace['events'][number]) =>
    Math.max(startTimeMs - atMs, atMs - endTimeMs, 0);
  const nearest = events.reduce<Trace['events'][number] | undefined>(
    (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
    undefined,
  );
  return nearest?.id;
}

function shareOf(ms: number, { startMs, endMs }: Span): number {
  return (ms - startMs) / (endMs - startMs);
}

/** Dims the parts outside the visible part. */
function Shade({ part }: { part: { from: number; to: number } | undefined }) {
  if (part === undefined) return null;
  const [from, to] = part.from < part.to ? [part.from, part.to] : [part.to, part.from];
  const cover = 'pointer-events-none absolute inset-y-0 bg-canvas/70';
  return (
    <>
      <div className={`${cover} left-0 border-accent border-r`} style={{ width: `${from * 100}%` }} />
      <div className={`${cover} right-0 border-accent border-l`} style={{ width: `${(1 - to) * 100}%` }} />
    </>
  );
}

function draw(canvas: HTMLCanvasElement, { trace, span, selectedId, height }: Drawing): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const scale = window.devicePixelRatio;
  const width = canvas.clientWidth;
  canvas.width = width * scale;
  canvas.height = height * scale;
  context.scale(scale, scale);
  const [gap, llm, tool, bad, marked] = (['sunken', 'llm-line', 'tool-line', 'bad-line', 'ink'] as const).map(
    (name) => resolveColor(`color-${name}`),
  );
  const x = (ms: number) => ((ms - span.startMs) / (span.endMs - span.startMs)) * width;
  context.fillStyle = gap ?? '';
  for (const { startMs, endMs } of trace.gaps)
    context.fillRect(x(startMs), 0, Math.max(1, x(endMs) - x(startMs)), height);
  const lanes = new Map(
    trace.lanes.flatMap((lane, index) => lane.eventIds.map((id) => [id, index] as const)),
  );
  const step = (height - 4) / Math.max(1, trace.lanes.length);
  const bar = Math.min(barMax, Math.max(barMin, step / 2 - 2));
  for (const event of trace.events) {
    const y = 2 + (lanes.get(event.id) ?? 0) * step + (event.type === 'tool' ? step / 2 : 0);
    const left = x(event.startTimeMs);
    const wide = Math.max(1.5, x(event.endTimeMs) - left);
    context.fillStyle = (event.state === 'error' ? bad : event.type === 'llm' ? llm : tool) ?? '';
    context.fillRect(left, y, wide, bar);
    // Errors have a tick above their bar, so that colour is not the only sign.
    if (event.state === 'error') context.fillRect(left, y - 2, 2, bar + 4);
    if (event.id !== selectedId) continue;
    context.strokeStyle = marked ?? '';
    context.lineWidth = 1.5;
    context.strokeRect(left - 1, y - 1, wide + 2, bar + 2);
  }
}
