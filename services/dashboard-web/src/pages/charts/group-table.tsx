import { Link } from '@tanstack/react-router';
import { formatCompact, formatCount, formatDuration, formatShare } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { describeText } from '../../text/marks.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { ChartRange } from './range.ts';
import { type ChartSeries, type GroupBy, nameGroup } from './series.ts';

const titles: Record<GroupBy, string> = {
  none: 'Group',
  type: 'Type',
  model: 'Model',
  tool: 'Tool',
  source: 'Source',
  agent: 'Agent',
};

/** The filter for the events of a group. */
const conditions: Partial<Record<GroupBy, (group: string) => Record<string, string>>> = {
  type: (type) => ({ type }),
  model: (name) => ({ type: 'llm', name }),
  tool: (name) => ({ type: 'tool', name }),
  source: (source) => ({ source }),
  agent: (agentId) => ({ agentId }),
};

/** The numbers behind the charts, over the whole range. */
export function GroupTable({
  series,
  groupBy,
  range,
}: {
  series: readonly ChartSeries[];
  groupBy: GroupBy;
  range: ChartRange;
}) {
  const ms = (value: number | null) => (value === null ? '–' : formatDuration(value));
  const columns: Column<ChartSeries>[] = [
    {
      title: titles[groupBy],
      cell: ({ group }) => <GroupName group={group} groupBy={groupBy} range={range} />,
      className: 'max-w-64',
    },
    { title: 'Events', isNumber: true, cell: ({ total }) => formatCount(total.events) },
    {
      title: 'Errors',
      isNumber: true,
      cell: ({ total: { events, errors } }) =>
        errors === 0 ? '0' : `${formatCount(errors)} (${formatShare(errors / events)})`,
    },
    { title: 'p50', isNumber: true, cell: ({ total }) => ms(total.p50Ms) },
    { title: 'p95', isNumber: true, cell: ({ total }) => ms(total.p95Ms) },
    { title: 'p99', isNumber: true, cell: ({ total }) => ms(total.p99Ms) },
    { title: 'Input', isNumber: true, cell: ({ total }) => formatCompact(total.inputTokens) },
    { title: 'From cache', isNumber: true, cell: ({ total }) => formatCompact(total.cacheReadTokens) },
    { title: 'Output', isNumber: true, cell: ({ total }) => formatCompact(total.outputTokens) },
    { title: 'Reasoning', isNumber: true, cell: ({ total }) => formatCompact(total.reasoningTokens) },
  ];
  return (
    <Table
      caption="The numbers of the charts: events, durations and tokens of the whole range"
      columns={columns}
      rows={series}
      keyOf={({ group }) => (group === null ? 'others' : `=${group}`)}
    />
  );
}

function GroupName({
  group,
  groupBy,
  range: { from, to, last },
}: {
  group: string | null;
  groupBy: GroupBy;
  range: ChartRange;
}) {
  const { id: spaceId } = useSpace();
  const label = groupBy === 'none' ? 'All events' : nameGroup(group);
  // There is no filter for unnamed events or for all others.
  const isListed = groupBy === 'none' || (group !== null && group !== '');
  if (!isListed) return <span className="text-muted">{label}</span>;
  const time: Record<string, string> = last === undefined ? { from: String(from), to: String(to) } : { last };
  return (
    <Link
      to="/s/$spaceId/events"
      params={{ spaceId }}
      search={{ ...(group === null ? {} : conditions[groupBy]?.(group)), ...time }}
      className="block truncate text-accent hover:underline"
      title={`Show events: ${describeText(label)}`}
    >
      <ShownText text={label} />
    </Link>
  );
}
