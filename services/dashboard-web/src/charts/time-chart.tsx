import { describeText } from '../text/shown-text.tsx';
import 'uplot/dist/uPlot.min.css';
import { Split } from 'lucide-react';
import { formatToMinute } from '../format/time.ts';
import { useZone } from '../settings/settings.ts';
import { SpaceLink } from '../space/space.tsx';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';
import type { Search } from '../url/search.ts';
import type { ColorName } from './colors.ts';
import { type ChartOptions, type TimeSpan, useChart } from './use-chart.ts';

const heightPixels = 190;

type TimeChartProps = ChartActions &
  Pick<ChartOptions, 'starts' | 'end' | 'series' | 'kind' | 'format'> & {
    /** What the chart shows, for screen readers. */
    name: string;
    /** The values are counts. */
    isWhole?: boolean;
  };

/**
 * A chart over time: stacked bars, or lines. Dragging selects a range; a click opens the events of a bucket,
 * and of the series under it. The arrow keys move a cursor, with Shift they select a range, and Enter does
 * the same. Screen readers read the values at the cursor. A table beside the chart has the same values.
 */
export function TimeChart({ name, onZoom, onOpen, splits, ...chart }: TimeChartProps) {
  const { starts, end, series, format } = chart;
  const zone = useZone();
  const { bucket, box } = useChart({
    isWhole: false,
    ...chart,
    isBare: false,
    zone,
    height: heightPixels,
    onRange: (range, isBucket, clicked) => {
      if (!isBucket) return onZoom(range);
      const isOfAll = clicked === undefined || clicked.isBefore === true;
      if (isOfAll || clicked.events !== undefined) onOpen?.(range, isOfAll ? undefined : clicked.events);
    },
  });
  const last = starts.length - 1;
  const shown = bucket ?? last;
  const at = formatToMinute(starts[shown] ?? 0);
  const values = series.map(({ label, color, values, events, isBefore = false }) => {
    const value = values[shown];
    return {
      label: describeText(label),
      color,
      events,
      isBefore,
      text: value === null || value === undefined ? '–' : format(value),
    };
  });
  return (
    <div className="relative">
      <Legend values={values} range={{ from: String(starts[0] ?? 0), to: String(end) }} splits={splits} />
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
        className={classes('w-full', onOpen && '[&_.u-over]:cursor-pointer')}
      />
    </div>
  );
}

export interface ChartActions {
  onZoom: (range: TimeSpan) => void;
  /** Opens the events of a bucket, of the series that was clicked or of all. Without it nothing opens. */
  onOpen?: (range: TimeSpan, events: Search | undefined) => void;
  splits?: Splits;
}

/** Ways to split the events of a series further, from its filter. */
type Splits = (events: Search) => readonly { label: string; onSelect: () => void }[];

interface ShownValue {
  label: string;
  color: ColorName;
  isBefore: boolean;
  events: Search | undefined;
  text: string;
}

interface LegendProps {
  values: readonly ShownValue[];
  range: Search;
  splits: Splits | undefined;
}

/** The series and their colours. A name opens the events of its series, and a menu beside it splits them. */
function Legend({ values, range, splits }: LegendProps) {
  return (
    <ul className="mb-1 flex min-h-5 flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-xs">
      {values.map(({ label, color, events, isBefore }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} isBefore={isBefore} />
          {events === undefined ? (
            <span className="max-w-40 truncate">{label}</span>
          ) : (
            <EventsLink label={label} search={{ ...events, ...range }} />
          )}
          {events !== undefined && splits !== undefined && <SplitMenu label={label} ways={splits(events)} />}
        </li>
      ))}
    </ul>
  );
}

function SplitMenu({ label, ways }: { label: string; ways: ReturnType<Splits> }) {
  if (ways.length === 0) return null;
  return (
    <Menu
      trigger={<IconButton icon={Split} label={`Split ${label}`} className="-ml-1 size-6 [&_svg]:size-3.5" />}
    >
      <MenuLabel>Only {label}</MenuLabel>
      {ways.map((way) => (
        <MenuItem key={way.label} onSelect={way.onSelect} text={way.label} />
      ))}
    </Menu>
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
      text={label}
    />
  );
}

/** The values at the cursor, over the other half of the chart: beside the chart they would move the page. */
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
      {values.map(({ label, color, isBefore, text }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} isBefore={isBefore} />
          <span className="min-w-0 flex-1 truncate">{label}</span>
          <span className="font-medium text-ink">{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Swatch({ color, isBefore }: { color: ColorName; isBefore: boolean }) {
  const shown = `var(--${color})`;
  return (
    <span
      aria-hidden
      className={classes('size-2 shrink-0 rounded-xs', isBefore && 'border border-dashed')}
      style={isBefore ? { borderColor: shown } : { backgroundColor: shown }}
    />
  );
}
