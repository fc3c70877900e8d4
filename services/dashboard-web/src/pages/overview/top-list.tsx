import type { Output } from '../../api/query.ts';
import { formatCompact, formatDuration, formatShare } from '../../format/number.ts';
import { SpaceLink } from '../../space/space.tsx';
import { type Column, numberColumn, TableCard } from '../../table/table.tsx';
import { useSort } from '../../table/table-sort.ts';
import type { Search } from '../../url/search.ts';
import { costColumn } from '../charts/group-table.tsx';

type Series = Output<'charts.events'>['series'];
type ModelCosts = Output<'charts.costs'>['models'];

const shownMax = 8;

interface TopListProps {
  type: 'llm' | 'tool';
  series: Series;
  costs?: ModelCosts | undefined;
  range: Search;
}

/** A name opens its charts, its number of events the events. */
export function TopList({ type, series, costs, range }: TopListProps) {
  const title = type === 'llm' ? 'Models' : 'Tools';
  const sort = useSort(title.toLowerCase());
  const named = series.filter(({ group }) => group !== null && group !== '');
  const max = Math.max(1, ...named.map(({ total }) => total.events));
  return (
    <TableCard
      empty="None in this range."
      caption={title}
      rows={named}
      keyOf={({ group }) => group ?? ''}
      columns={[...listColumns({ ...range, type }, max), ...(type === 'llm' ? pricedColumns(costs) : [])]}
      sort={sort}
      rowsMax={shownMax}
    />
  );
}

/** `max` is the largest number of events. The name opens the charts. */
function listColumns(search: Search, max: number): Column<Series[number]>[] {
  return [
    {
      title: 'Name',
      className: 'md:w-1/3',
      sortBy: ({ group }) => group,
      cell: (one) => <Name series={one} search={search} share={one.total.events / max} />,
    },
    {
      title: 'Events',
      isNumber: true,
      sortBy: ({ total }) => total.events,
      cell: ({ group, total }) => (
        <SpaceLink page="events" search={{ ...search, name: group ?? '' }} className="hover:underline">
          {formatCompact(total.events)}
        </SpaceLink>
      ),
    },
    {
      title: 'Errors',
      isNumber: true,
      sortBy: ({ total }) => total.errors / Math.max(1, total.events),
      cell: ({ total }) => (
        <span className={total.errors > 0 ? 'text-bad' : 'text-faint'}>
          {formatShare(total.errors / Math.max(1, total.events))}
        </span>
      ),
    },
    numberColumn('p95', ({ total }) => total.p95Ms, formatDuration),
  ];
}

interface NameProps {
  series: Series[number];
  search: Search;
  share: number;
}

/** The bar behind a name is its share of the largest number of events. */
function Name({ series: { group }, search, share }: NameProps) {
  return (
    <div className="relative min-w-0 flex-1">
      <div
        aria-hidden
        className="absolute inset-y-0 -left-2 rounded-sm bg-accent-soft"
        style={{ width: `${share * 100}%` }}
      />
      <SpaceLink
        page="charts"
        search={{ ...search, name: group ?? '' }}
        className="relative font-medium hover:underline"
        text={group ?? ''}
      />
    </div>
  );
}

function pricedColumns(costs: ModelCosts | undefined): Column<Series[number]>[] {
  const costOf = new Map(costs?.map((one) => [one.model, one]));
  return [
    numberColumn('Tokens', ({ total }) => total.inputTokens + total.outputTokens, formatCompact),
    costColumn(({ group }) => costOf.get(group)),
  ];
}
