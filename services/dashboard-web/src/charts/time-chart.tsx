import 'uplot/dist/uPlot.min.css';
import { formatTime } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { SpaceLink } from '../space/space.tsx';
import { describeText } from '../text/marks.ts';
import { classes } from '../ui/classes.ts';
import type { Search } from '../url/search.ts';
import type { ColorName } from './colors.ts';
import { type ChartOptions, type TimeSpan, useChart } from './use-chart.ts';

const heightPixels = 190;

/**
 * A chart over time: stacked bars, or lines. Dragging selects a range; the arrow keys move a cursor, with
 * Shift they select a range, and Enter shows it. Screen readers read the values at the cursor. A table beside
 * the chart has the same values.
 */
export function TimeChart({
  name,
  onZoom,
  ...chart
}: Pick<ChartOptions, 'starts' | 'end' | 'series' | 'kind' | 'format'> & {
  /** What the chart shows, for screen readers. */
  name: string;
  /** The values are counts. */
  isWhole?: boolean;
  onZoom: (range: TimeSpan) => void;
}) {
  const { starts, end, series, format } = chart;
  const { zone } = useSettings();
  const { bucket, box } = useChart({
    isWhole: false,
    ...chart,
    isBare: false,
    zone,
    height: heightPixels,
    onRange: (range, isBucket) => !isBucket && onZoom(range),
  });
  const last = starts.length - 1;
  const shown = bucket ?? last;
  const at = formatTime(starts[shown] ?? 0, zone).slice(0, 16);
  const values = series.map(({ label, color, values, events }) => {
    const value = values[shown];
    return {
      label: describeText(label),
      color,
      events,
      text: value === null || value === undefined ? '–' : format(value),
    };
  });
  return (
    <div className="relative">
      <Legend values={values} range={{ from: String(starts[0] ?? 0), to: String(end) }} />
      {bucket !== undefined && <Readout at={at} values={values} isLeft={bucket > last / 2} />}
      <div
        {...box}
        role="slider"
        tabIndex={0}
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, shown)}
        aria-valuetext={`${at}: ${values.map(({ label, text }) => `${label} ${text}`).join(', ')}`}
        className="w-full"
      />
    </div>
  );
}

interface ShownValue {
  label: string;
  color: ColorName;
  events: Search | undefined;
  text: string;
}

/** The series and their colours. A name opens the events of its series. */
function Legend({ values, range }: { values: readonly ShownValue[]; range: Search }) {
  return (
    <ul className="mb-1 flex min-h-5 flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-xs">
      {values.map(({ label, color, events }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} />
          {events === undefined ? (
            <span className="max-w-40 truncate">{label}</span>
          ) : (
            <EventsLink label={label} search={{ ...events, ...range }} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Only in charts of a space. */
function EventsLink({ label, search }: { label: string; search: Search }) {
  return (
    <SpaceLink
      page="events"
      search={search}
      title={`Show events: ${label}`}
      className="max-w-40 truncate hover:text-ink hover:underline"
    >
      {label}
    </SpaceLink>
  );
}

/**
 * The values at the cursor, over the half of the chart without the cursor: below or above it they would move
 * the page.
 */
function Readout({ at, values, isLeft }: { at: string; values: readonly ShownValue[]; isLeft: boolean }) {
  return (
    <ul
      aria-hidden
      className={classes(
        'pointer-events-none absolute top-6 z-10 flex max-w-[48%] flex-col gap-0.5 rounded-md bg-raised px-2 py-1.5 text-muted text-xs shadow-pop',
        isLeft ? 'left-14' : 'right-2',
      )}
    >
      <li className="font-medium text-ink">{at}</li>
      {values.map(({ label, color, text }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} />
          <span className="min-w-0 flex-1 truncate">{label}</span>
          <span className="font-medium text-ink">{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Swatch({ color }: { color: ColorName }) {
  return (
    <span aria-hidden className="size-2 shrink-0 rounded-xs" style={{ backgroundColor: `var(--${color})` }} />
  );
}
