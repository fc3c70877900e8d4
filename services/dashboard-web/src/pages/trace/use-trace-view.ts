import { useMemo } from 'react';
import { useFilter } from '../../filter/use-filter.ts';
import { useShortcuts } from '../../settings/settings.ts';
import { useOpen } from '../../space/space.tsx';
import { hasMatch, ignoringCase } from '../../text/ignoring-case.ts';
import { spanOf, type Trace, type TraceEvent, toTraceRows } from './trace-rows.ts';
import { readZoom, rowsWithin, type Span, writeZoom, zoomIn } from './zoom.ts';

/** The visible part of a trace and the selection, both from the address, with their keys. */
export function useTraceView(trace: Trace) {
  const { search, set } = useFilter();
  const openPage = useOpen();
  const allRows = useMemo(() => toTraceRows(trace), [trace]);
  const whole = useMemo(() => spanOf(trace), [trace]);
  const zoom = readZoom(search, whole);
  const span = zoom ?? whole;
  const { startMs, endMs } = span;
  const rows = useMemo(
    () =>
      startMs === whole.startMs && endMs === whole.endMs ? allRows : rowsWithin(allRows, { startMs, endMs }),
    [allRows, whole, startMs, endMs],
  );
  const shown = useMemo(() => rows.flatMap((row) => (row.kind === 'event' ? [row.event] : [])), [rows]);
  const errors = useMemo(() => shown.filter(({ state }) => state === 'error'), [shown]);
  const place = shown.findIndex(({ id }) => id === search.peek);
  const select = (id: string | undefined) => id !== undefined && set({ peek: id });
  const showError = () => {
    const next = shown.slice(place + 1).find(({ state }) => state === 'error') ?? errors[0];
    select(next?.id);
  };
  const findNext = (text: string | undefined) => {
    if (text === undefined) return;
    const wanted = ignoringCase(text);
    const has = (event: TraceEvent) => textsOf(event).some((part) => part && hasMatch(part, wanted));
    select((shown.slice(place + 1).find(has) ?? shown.find(has))?.id);
  };
  const zoomTo = (next: Span | undefined) =>
    set(next === undefined ? { from: undefined, to: undefined } : writeZoom(next));
  const zoomCloser = () => {
    const selected = shown[place];
    const around = selected ?? { startTimeMs: startMs, endTimeMs: endMs };
    zoomTo(zoomIn(span, (around.startTimeMs + around.endTimeMs) / 2));
  };
  useShortcuts({
    '+': zoomCloser,
    '-': () => zoom !== undefined && zoomTo(undefined),
    j: () => select(shown[place + 1]?.id),
    k: () => select(shown[Math.max(0, place - 1)]?.id),
    e: showError,
    enter: () => search.peek !== undefined && openPage({ page: 'event', id: search.peek }),
    escape: () => search.peek !== undefined && set({ peek: undefined }),
  });
  return { whole, span, zoom, rows, shown, errors, select, showError, zoomTo, zoomCloser, findNext };
}

/** The texts of an event in which it is found. */
function textsOf(event: TraceEvent): (string | null)[] {
  const { name, errorMessage, inputPreview, outputPreview, agentId, threadId } = event;
  return [name, errorMessage, inputPreview, outputPreview, agentId, threadId];
}
