import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChartNoAxesColumn, X } from 'lucide-react';
import { useMemo } from 'react';
import { apiQuery } from '../../api/query.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import { NewestEvent } from '../../filter/newest-event.tsx';
import { RangeField } from '../../filter/range-field.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCompact, formatDuration } from '../../format/number.ts';
import { nameZone } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { SpaceLink, useSpace } from '../../space/space.tsx';
import { describeText } from '../../text/marks.ts';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { SelectField } from '../../ui/field.tsx';
import { Loaded, Notice } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import type { Search } from '../../url/search.ts';
import { CostCard } from './cost-card.tsx';
import { GroupTable } from './group-table.tsx';
import {
  type Declared,
  groups,
  isDeclared,
  readGroup,
  readOnly,
  slicedGroups,
  toChartFilter,
} from './grouping.ts';
import { type ChartRange, readRange, recentDefault } from './range.ts';
import { type Chart, type ChartCard, describeCharts, type GroupBy, isAttribute } from './series.ts';

/** Groups with a series of their own; one colour is left for all others. */
const groupsMax = 7;

const formats: Record<ChartCard['unit'], (value: number) => string> = {
  count: formatCompact,
  duration: formatDuration,
  tokens: formatCompact,
};

/**
 * Events, durations, tokens and costs over time, for the range and grouping of the address. Dragging over a
 * chart selects a range.
 */
export function ChartsPage() {
  const { search, set } = useFilter();
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const range = readRange(search, Date.now(), zone);
  const { from, to, step } = range;
  const declared = useQuery(apiQuery('charts.dimensions', { spaceId })).data ?? [];
  const groupBy = readGroup(search.by);
  const timeZone = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const input = { spaceId, from, to, step, timeZone };
  const only = readOnly(search, groupBy, declared);
  const { type, name, ...sliced } = toChartFilter(only);
  const query = useQuery({
    ...apiQuery('charts.events', { ...input, ...sliced, type, name, groupBy, groupsMax }),
    placeholderData: keepPreviousData,
  });
  const isByModel = groupBy === 'none' || groupBy === 'model';
  const hasCosts =
    only.type !== 'tool' &&
    (isByModel || groupBy === 'user' || isAttribute(groupBy) || isDeclared(declared, groupBy));
  const costInput = isByModel ? { ...input, ...sliced } : { ...input, ...sliced, name, groupBy };
  const costs = useQuery({
    ...apiQuery('charts.costs', costInput),
    placeholderData: keepPreviousData,
    enabled: hasCosts,
  });
  const shown = useMemo(() => query.data?.series.map(({ group }) => group), [query.data]);
  const isCounting = declared.some((one) => one.name === groupBy && one.counted < 1);
  const zoom = (chosen: { from: number; to: number }) =>
    set({ from: String(chosen.from), to: String(chosen.to), last: undefined });
  return (
    <Page
      title={only.name === undefined ? 'Charts' : `Charts of ${describeText(only.name)}`}
      subtitle={`By ${step}, ${nameZone(zone)}. ${isCounting ? 'Older events are still being counted.' : 'Includes expired events.'}`}
      actions={<Controls range={range} groupBy={groupBy} declared={declared} only={only} onChange={set} />}
    >
      <Loaded query={query}>
        {(data) =>
          data.series.length === 0 ? (
            <Notice icon={ChartNoAxesColumn} title="No events in this range">
              <NewestEvent />
            </Notice>
          ) : (
            <div className="flex flex-col gap-4">
              <div className="grid gap-4 xl:grid-cols-2">
                <Cards chart={data} groupBy={groupBy} only={only} onZoom={zoom} />
                {hasCosts && (
                  <div className={classes('grid', groupBy !== 'none' && 'xl:col-span-2')}>
                    <CostCard
                      input={costInput}
                      groupBy={groupBy === 'none' ? 'model' : groupBy}
                      groups={
                        isByModel && name !== undefined ? [name] : groupBy === 'none' ? undefined : shown
                      }
                      isOnly={isByModel && name !== undefined}
                      onZoom={zoom}
                    />
                  </div>
                )}
              </div>
              <Card title="Numbers" isFlush>
                <GroupTable
                  series={data.series}
                  costs={hasCosts ? costs.data : undefined}
                  groupBy={groupBy}
                  range={range}
                  only={only}
                />
              </Card>
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

function Controls({
  range: { from, to, last },
  groupBy,
  declared,
  only,
  onChange,
}: {
  range: ChartRange;
  groupBy: GroupBy;
  declared: Declared;
  only: Search;
  onChange: (change: Record<string, string | undefined>) => void;
}) {
  const { search } = useFilter();
  return (
    <>
      {Object.keys(only).length > 0 && (
        <Button
          icon={X}
          look="quiet"
          onClick={() => onChange(Object.fromEntries(Object.keys(only).map((name) => [name, undefined])))}
        >
          All events
        </Button>
      )}
      <SelectField
        label="Grouped"
        isLabelHidden
        options={[...groups, ...slicedGroups(declared, groupBy)]}
        value={groupBy}
        onChange={(value) => onChange({ by: value === 'none' ? undefined : value })}
        className="w-44"
      />
      <RangeField search={search} fallback={recentDefault} onChange={onChange} />
      <SpaceLink
        page="events"
        search={{ ...only, ...(last === undefined ? { from: String(from), to: String(to) } : { last }) }}
        className={buttonClasses()}
      >
        Show events
      </SpaceLink>
    </>
  );
}

function Cards({
  chart,
  groupBy,
  only,
  onZoom,
}: {
  chart: Chart;
  groupBy: GroupBy;
  only: Search;
  onZoom: (range: { from: number; to: number }) => void;
}) {
  const key = JSON.stringify(only);
  const cards = useMemo(() => describeCharts(chart, groupBy, JSON.parse(key)), [chart, groupBy, key]);
  return cards.map(({ title, kind, unit, series }) => (
    <Card key={title} title={title}>
      {kind === 'bars' && series.every(({ values }) => values.every((value) => !value)) ? (
        <p className="py-10 text-center text-muted text-sm">None in this range.</p>
      ) : (
        <TimeChart
          name={title}
          starts={chart.starts}
          end={chart.end}
          series={series}
          kind={kind}
          format={formats[unit]}
          isWhole={unit !== 'duration'}
          onZoom={onZoom}
        />
      )}
    </Card>
  ));
}
