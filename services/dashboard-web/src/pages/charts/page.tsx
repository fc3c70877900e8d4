import { ChartNoAxesColumn, History, X } from 'lucide-react';
import { useMemo } from 'react';
import { type ChartActions, TimeChart } from '../../charts/time-chart.tsx';
import type { TimeSpan } from '../../charts/use-chart.ts';
import { NewestEvent } from '../../filter/newest-event.tsx';
import { RangeField } from '../../filter/range-field.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCompact, formatDuration } from '../../format/number.ts';
import { nameZone } from '../../format/time.ts';
import { hasRole, SpaceButton, useOpen, useSpace } from '../../space/space.tsx';
import { describeText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { SelectField } from '../../ui/field.tsx';
import { Loaded, Notice } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import type { Search } from '../../url/search.ts';
import { CostCard } from './cost-card.tsx';
import { GroupTable } from './group-table.tsx';
import { type Declared, groups, slicedGroups, splitsOf } from './grouping.ts';
import { type ChartRange, recentDefault, steps, stepsOf } from './range.ts';
import { type Chart, type ChartCard, describeCharts, type GroupBy, kindOf, withBefore } from './series.ts';
import { useCharts } from './use-charts.ts';

const formats: Record<ChartCard['unit'], (value: number) => string> = {
  count: formatCompact,
  duration: formatDuration,
  tokens: formatCompact,
};

/**
 * Events, durations, tokens and costs over time, for the range and grouping of the address. Dragging over a
 * chart selects a range, a click opens events.
 */
export function ChartsPage() {
  const { set } = useFilter();
  const charts = useCharts();
  const { range, declared, groupBy, only, query } = charts;
  const isCounting = declared.some((one) => one.name === groupBy && one.counted < 1);
  return (
    <Page
      title={only.name === undefined ? 'Charts' : `Charts of ${describeText(only.name)}`}
      subtitle={`${steps[range.step].label}, ${nameZone()}. ${isCounting ? 'Older events are still being counted.' : 'Includes expired events.'}`}
      actions={<Controls range={range} groupBy={groupBy} declared={declared} only={only} onChange={set} />}
    >
      <Loaded query={query}>
        {(data) =>
          data.series.length === 0 ? (
            <Notice icon={ChartNoAxesColumn} title="No events in this range">
              <NewestEvent />
            </Notice>
          ) : (
            <Shown data={data} charts={charts} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Shown({ data, charts }: { data: Chart; charts: ReturnType<typeof useCharts> }) {
  const { range, declared, groupBy, only, isByModel, before, costInput, costInputBefore, costs } = charts;
  const { set } = useFilter();
  const { role } = useSpace();
  const open = useOpen();
  const openSettings = () => open({ page: 'settings' });
  const isOnly = isByModel && only.name !== undefined;
  const shown = useMemo(() => data.series.map(({ group }) => group), [data]);
  const actions = {
    onZoom: ({ from, to }: TimeSpan) => set({ from: String(from), to: String(to), last: undefined }),
    onOpen: ({ from, to }: TimeSpan, events: Search = only) =>
      open({ page: 'events', search: { ...events, from: String(from), to: String(to) } }),
    splits: (events: Search) => {
      const { filter, ways } = splitsOf(events, declared);
      const split = ways.map(({ value, label }) => ({
        label,
        onSelect: () => set({ ...filter, by: value }),
      }));
      // By user and attributes, once an admin has declared them.
      const canDeclare = declared.length === 0 && ways.length > 0 && hasRole(role, 'admin');
      return canDeclare ? [...split, { label: 'By users or attributes …', onSelect: openSettings }] : split;
    },
  };
  const groups = isOnly ? [only.name ?? ''] : groupBy === 'none' ? undefined : shown;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 xl:grid-cols-2">
        <Cards chart={data} before={before} groupBy={groupBy} only={only} actions={actions} />
        {costInput && (
          <div className={classes('grid', groupBy !== 'none' && 'xl:col-span-2')}>
            <CostCard
              input={costInput}
              inputBefore={costInputBefore}
              groupBy={groupBy === 'none' ? 'model' : groupBy}
              groups={groups}
              isOnly={isOnly}
              actions={actions}
            />
          </div>
        )}
      </div>
      <Card title="Numbers" isFlush>
        <GroupTable series={data.series} costs={costs} groupBy={groupBy} range={range} only={only} />
      </Card>
    </div>
  );
}

interface ControlsProps {
  range: ChartRange;
  groupBy: GroupBy;
  declared: Declared;
  only: Search;
  onChange: (change: Record<string, string | undefined>) => void;
}

function Controls({ range: { from, to, last, step }, groupBy, declared, only, onChange }: ControlsProps) {
  const { search } = useFilter();
  return (
    <>
      {Object.keys(only).length > 0 && (
        <Button
          icon={X}
          look="quiet"
          onClick={() => onChange(Object.fromEntries(Object.keys(only).map((name) => [name, undefined])))}
          text="All events"
        />
      )}
      <SelectField
        label="Grouped"
        isLabelHidden
        options={[...groups, ...slicedGroups(declared, groupBy)]}
        value={groupBy}
        onChange={(value) => onChange({ by: value === 'none' ? undefined : value })}
        className="w-36"
      />
      <SelectField
        label="Size of the buckets"
        isLabelHidden
        options={stepsOf(to - from).map((value) => ({ value, label: steps[value].label }))}
        value={step}
        onChange={(value) => onChange({ step: value })}
        className="w-36"
      />
      <Button
        icon={History}
        aria-pressed={search.before === '1'}
        onClick={() => onChange({ before: search.before === '1' ? undefined : '1' })}
        className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
        text="Period before"
      />
      <RangeField search={search} fallback={recentDefault} onChange={onChange} />
      <SpaceButton
        page="events"
        search={{ ...only, ...(last === undefined ? { from: String(from), to: String(to) } : { last }) }}
        text="Show events"
      />
    </>
  );
}

interface CardsProps {
  chart: Chart;
  before: Chart | undefined;
  groupBy: GroupBy;
  only: Search;
  actions: ChartActions;
}

function Cards({ chart, before, groupBy, only, actions }: CardsProps) {
  const key = JSON.stringify(only);
  const cards = useMemo(() => {
    const [now, then] = [chart, before].map((one) => one && describeCharts(one, groupBy, JSON.parse(key)));
    return now && then ? withBefore(now, then) : (now ?? []);
  }, [chart, before, groupBy, key]);
  return cards.map(({ title, unit, series }) => (
    <Card key={title} title={title}>
      {kindOf(unit) === 'bars' && series.every(({ values }) => values.every((value) => !value)) ? (
        <p className="py-10 text-center text-muted text-sm">None in this range.</p>
      ) : (
        <TimeChart
          name={title}
          starts={chart.starts}
          end={chart.end}
          series={series}
          kind={kindOf(unit)}
          format={formats[unit]}
          isWhole={unit !== 'duration'}
          {...actions}
        />
      )}
    </Card>
  ));
}
