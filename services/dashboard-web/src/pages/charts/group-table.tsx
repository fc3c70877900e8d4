import type { Output } from '../../api/query.ts';
import { attributePrefix } from '../../filter/conditions.ts';
import { formatCompact, formatCount, formatDuration, formatShare } from '../../format/number.ts';
import { formatCost } from '../../format/priced.ts';
import { SpaceLink } from '../../space/space.tsx';
import { type Column, NoValue, numberColumn, Table } from '../../table/table.tsx';
import { useSort } from '../../table/table-sort.ts';
import { describeText } from '../../text/shown-text.tsx';
import type { Search } from '../../url/search.ts';
import type { ChartRange } from './range.ts';
import { type ChartSeries, eventsOf, type GroupBy, nameGroup } from './series.ts';

const titles: Readonly<Record<string, string>> = {
  none: 'Group',
  type: 'Type',
  model: 'Model',
  tool: 'Tool',
  source: 'Source',
  agent: 'Agent',
  user: 'User',
};

const durations = (['p50', 'p95', 'p99'] as const).map((title) =>
  numberColumn(title, ({ total }: ChartSeries) => total[`${title}Ms`], formatDuration),
);

const tokens = (
  [
    ['Input', 'inputTokens'],
    ['From cache', 'cacheReadTokens'],
    ['Output', 'outputTokens'],
    ['Reasoning', 'reasoningTokens'],
  ] as const
).map(([title, name]) => numberColumn(title, ({ total }: ChartSeries) => total[name], formatCompact));

const eventsOfGroup = ({ total }: ChartSeries) => total.events;

const numbers: readonly Column<ChartSeries>[] = [
  numberColumn('Events', eventsOfGroup, formatCount),
  {
    ...numberColumn('Errors', ({ total }: ChartSeries) => total.errors, formatCount),
    cell: ({ total: { errors, events } }) =>
      errors === 0 ? '0' : `${formatCount(errors)} (${formatShare(errors / events)})`,
  },
  ...durations,
  ...tokens,
];

/** The cost of a group, where it has one. */
export function costColumn(costOf: (one: ChartSeries) => Cost | undefined): Column<ChartSeries> {
  return {
    title: 'Cost',
    isNumber: true,
    sortBy: (one) => Number(costOf(one)?.cost ?? Number.NaN),
    cell: (one) => {
      const { cost = null, bound = 'exact' } = costOf(one) ?? {};
      return cost === null ? <NoValue /> : formatCost({ cost, bound });
    },
  };
}

interface GroupTableProps {
  series: readonly ChartSeries[];
  /** Undefined when they are not loaded, or not known for this grouping. */
  costs: Output<'charts.costs'> | undefined;
  groupBy: GroupBy;
  range: ChartRange;
  /** The filter of all groups. */
  only: Search;
  /** A column with the share of this number of events. */
  share?: { title: string; of: number };
}

/** The numbers behind the charts, over the whole range. */
export function GroupTable({ series, costs, groupBy, range, only, share }: GroupTableProps) {
  const sort = useSort();
  const costOf = ({ group }: ChartSeries) => findCost(costs, groupBy === 'none' ? only.name : group);
  const columns: Column<ChartSeries>[] = [
    {
      title: titles[groupBy] ?? groupBy.slice(attributePrefix.length),
      cell: ({ group }) => <GroupName group={group} groupBy={groupBy} range={range} only={only} />,
      className: 'md:max-w-64',
      sortBy: ({ group }) => group,
    },
    ...(share ? [numberColumn(share.title, eventsOfGroup, (events) => formatShare(events / share.of))] : []),
    ...numbers.filter(({ title, sortBy }) => title !== 'Reasoning' || series.some((one) => sortBy?.(one))),
    ...(costs === undefined ? [] : [costColumn(costOf)]),
  ];
  return (
    <Table
      caption="The numbers of the charts: events, durations and tokens of the whole range"
      columns={columns}
      rows={series}
      keyOf={({ group }) => (group === null ? 'others' : `=${group}`)}
      sort={sort}
    />
  );
}

type Cost = Pick<Output<'charts.costs'>['total'], 'cost' | 'bound'>;

/** The cost of a model or a group; of all of them for undefined. */
function findCost(costs: Output<'charts.costs'> | undefined, model: string | null | undefined) {
  return model === undefined
    ? costs?.total
    : costs?.models.find((one) => one.model !== null && one.model === model);
}

interface GroupNameProps {
  group: string | null;
  groupBy: GroupBy;
  range: ChartRange;
  only: Search;
}

function GroupName({ group, groupBy, range: { from, to, last }, only }: GroupNameProps) {
  const label = groupBy === 'none' ? (only.name ?? 'All events') : nameGroup(group);
  const events = eventsOf(groupBy, group);
  if (events === undefined) return <span className="text-muted">{label}</span>;
  const time: Record<string, string> = last === undefined ? { from: String(from), to: String(to) } : { last };
  return (
    <SpaceLink
      page="events"
      search={{ ...only, ...events, ...time }}
      className="block truncate text-accent hover:underline"
      title={`Show events: ${describeText(label)}`}
      text={label}
    />
  );
}
