import { type PointerEvent, useEffect, useRef } from 'react';
import { resolveColor, useScheme } from '../../charts/colors.ts';
import { formatDuration } from '../../format/number.ts';
import type { Trace } from './trace-rows.ts';

const height = 56;
const barHeight = 3;

/** The whole trace at a glance: thousands of events in one drawing. A click selects the event that is nearest in time. */
export function Minimap({
  trace,
  span,
  selectedId,
  onSelect,
}: {
  trace: Trace;
  span: { startMs: number; endMs: number };
  selectedId: string | undefined;
  onSelect: (id: string | undefined) => void;
}) {
  const scheme = useScheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours.
  useEffect(() => {
    const target = canvas.current;
    if (target === null) return;
    const paint = () => draw(target, { trace, span, selectedId });
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(target);
    return () => observer.disconnect();
  }, [trace, span, selectedId, scheme]);
  const onClick = (event: PointerEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = span.startMs + ((event.clientX - box.left) / box.width) * (span.endMs - span.startMs);
    const distance = ({ startTimeMs, endTimeMs }: Trace['events'][number]) =>
      Math.max(startTimeMs - at, at - endTimeMs, 0);
    const nearest = trace.events.reduce<Trace['events'][number] | undefined>(
      (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
      undefined,
    );
    onSelect(nearest?.id);
  };
  return (
    <div className="shrink-0 border-line border-b px-3 pt-2 pb-1">
      <canvas
        ref={canvas}
        height={height}
        aria-hidden
        onPointerUp={onClick}
        className="block h-14 w-full cursor-pointer"
      />
      <div className="flex justify-between text-faint text-xs">
        <span>0</span>
        <span>{formatDuration((span.endMs - span.startMs) / 2)}</span>
        <span>{formatDuration(span.endMs - span.startMs)}</span>
      </div>
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  {
    trace,
    span,
    selectedId,
  }: { trace: Trace; span: { startMs: number; endMs: number }; selectedId: string | undefined },
): void {
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
  const step = Math.min(12, (height - 4) / Math.max(1, trace.lanes.length));
  for (const event of trace.events) {
    const y = 2 + (lanes.get(event.id) ?? 0) * step + (event.type === 'tool' ? step / 2 : 0);
    const isMarked = event.id === selectedId;
    context.fillStyle =
      (isMarked ? marked : event.state === 'error' ? bad : event.type === 'llm' ? llm : tool) ?? '';
    context.fillRect(
      x(event.startTimeMs),
      y,
      Math.max(1.5, x(event.endTimeMs) - x(event.startTimeMs)),
      isMarked ? barHeight + 2 : barHeight,
    );
  }
}
