import { useMemo, useState } from 'react';
import type { Output } from '../../api/query.ts';
import { colorNames } from '../../charts/colors.ts';
import { type ChartActions, TimeChart } from '../../charts/time-chart.tsx';
import type { TimeSeries } from '../../charts/time-series.ts';
import { formatMoney } from '../../format/number.ts';
import { describeCost, describePriced, nameKind } from '../../format/priced.ts';
import { SpaceLink } from '../../space/space.tsx';
import { dataBeside, keepsData, type SpaceInput, useSpaceQuery } from '../../space/use-space-query.ts';
import { SelectField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Card } from '../../ui/page.tsx';
import type { Search } from '../../url/search.ts';
import { eventsOf, type GroupBy, nameGroup, seriesBefore } from './series.ts';
import { noPeriod } from './use-charts.ts';

/** Models shown as series of their own. */
const modelsShown = 7;

interface CostChart {
  groupBy: GroupBy;
  /** The groups that the other charts show; undefined: the most expensive ones. */
  groups: readonly (string | null)[] | undefined;
  /** Whether the other models are left out. */
  isOnly: boolean;
  actions: ChartActions;
}

interface CostCardProps extends CostChart {
  input: SpaceInput<'charts.costs'>;
  /** Of the period before, which is shown beside. */
  inputBefore: SpaceInput<'charts.costs'> | undefined;
}

/** The cost of each model over time, and the share of tokens that have a price. */
export function CostCard({ input, inputBefore, ...chart }: CostCardProps) {
  const query = useSpaceQuery('charts.costs', input, keepsData);
  const before = useSpaceQuery('charts.costs', inputBefore ?? { ...input, ...noPeriod }, {
    ...keepsData,
    enabled: inputBefore !== undefined,
  });
  return (
    <Loaded query={query} isSmall frame={(state) => <Card title="Cost">{state}</Card>}>
      {(costs) => <Costs costs={costs} before={inputBefore && dataBeside(before)} {...chart} />}
    </Loaded>
  );
}

const kinds = { value: 'kind', label: 'By kind of usage' } as const;

interface CostsProps extends CostChart {
  costs: Output<'charts.costs'>;
  before: Output<'charts.costs'> | undefined;
}

function Costs({ costs, before, groupBy, groups, isOnly, actions }: CostsProps) {
  const [split, setSplit] = useState<'group' | 'kind'>('group');
  const splits = [{ value: 'group', label: groupBy === 'model' ? 'By model' : 'By group' } as const, kinds];
  const series = useMemo(() => {
    const describe = (one: Output<'charts.costs'>) =>
      split === 'kind' && !isOnly ? describeKinds(one) : describeCosts(one, { groupBy, groups, isOnly });
    const now = describe(costs);
    return before ? [...now, ...seriesBefore({ kind: 'bars', series: now }, describe(before))] : now;
  }, [costs, before, groupBy, groups, isOnly, split]);
  const model = isOnly ? costs.models.find((one) => one.model === groups?.[0]) : undefined;
  const shown = isOnly ? model : costs.total;
  const { cost, bound, tokens } = shown ?? { cost: null, bound: 'exact', tokens: 0 };
  if (shown === undefined || cost === null)
    return (
      <Card title="Cost">
        <NoCost hasTokens={tokens > 0} />
      </Card>
    );
  return (
    <Card
      title="Cost"
      actions={
        <span className="flex items-center gap-3">
          {!isOnly && (
            <SelectField label="Split" isLabelHidden options={splits} value={split} onChange={setSplit} />
          )}
          <span className="font-medium">{describeCost({ cost, bound })}</span>
        </span>
      }
    >
      <TimeChart
        name={split === 'kind' && !isOnly ? 'Cost by kind of usage' : `Cost by ${groupBy}`}
        starts={costs.starts}
        end={costs.end}
        series={series}
        kind="bars"
        format={formatMoney}
        {...actions}
      />
      <CostKinds kinds={(model ?? costs).kinds} priced={describePriced(shown)} />
    </Card>
  );
}

type CostOf = Output<'charts.costs'>['models'][number];

function CostKinds({ kinds, priced }: { kinds: CostOf['kinds']; priced: string }) {
  return (
    <p className="mt-1 text-muted text-xs">
      {kinds.map(({ kind, cost }) => (
        <span key={kind} className="mr-3 inline-block">
          {nameKind(kind)} {formatMoney(Number(cost))}
        </span>
      ))}
      <PricesLink className="text-accent underline decoration-line hover:decoration-current">
        {priced}
      </PricesLink>
      .
    </p>
  );
}

function NoCost({ hasTokens }: { hasTokens: boolean }) {
  return (
    <p className="py-10 text-center text-muted text-sm">
      {hasTokens ? 'No tokens in this range have a price.' : 'No tokens in this range.'}
      {hasTokens && <PricesLink className="mt-1 block text-accent hover:underline">Set prices</PricesLink>}
    </p>
  );
}

function PricesLink({ className, children }: { className: string; children: string }) {
  return <SpaceLink page="prices" className={className} text={children} />;
}

/** Only calls of models have costs. */
const withType = (events: Search | undefined): Search | undefined => events && { type: 'llm', ...events };

/** The groups of the other charts, or else the most expensive ones; all others as one series. */
function describeCosts(
  { starts, models }: Output<'charts.costs'>,
  { groupBy, groups, isOnly }: Pick<CostChart, 'groupBy' | 'groups' | 'isOnly'>,
): TimeSeries[] {
  // In a chart of many buckets, the points of most models are those of the null name.
  const priced = models.filter(({ points }) => points.some(({ cost }) => cost !== null));
  const mostExpensive = () =>
    priced
      .toSorted((a, b) => Number(b.cost) - Number(a.cost))
      .slice(0, modelsShown)
      .map(({ model }) => model);
  const shown = (groups ?? mostExpensive()).filter((name) => name !== null);
  const colors = colorNames(groupBy, shown);
  const sum = (some: typeof priced) => {
    const values = new Array<number>(starts.length).fill(0);
    for (const { bucket, cost } of some.flatMap(({ points }) => points)) {
      values[bucket] = (values[bucket] ?? 0) + Number(cost ?? 0);
    }
    return values;
  };
  const own = shown
    .flatMap((name) => priced.filter(({ model }) => model === name))
    .map(
      (one): TimeSeries => ({
        label: nameGroup(one.model),
        color: colors.get(one.model ?? '') ?? 'color-edge',
        values: sum([one]),
        events: withType(eventsOf(groupBy, one.model)),
      }),
    );
  const others = priced.filter(({ model }) => model === null || !shown.includes(model));
  if (others.length === 0 || isOnly) return own;
  return [...own, { label: 'All others', color: 'color-edge', values: sum(others) }];
}

/** A series for each kind of usage. */
function describeKinds({ starts, kinds }: Output<'charts.costs'>): TimeSeries[] {
  const names = kinds.map(({ kind }) => nameKind(kind));
  const colors = colorNames('kind', names);
  return kinds.map(({ kind, points }) => {
    const values = new Array<number>(starts.length).fill(0);
    for (const { bucket, cost } of points) values[bucket] = Number(cost);
    return { label: nameKind(kind), color: colors.get(nameKind(kind)) ?? 'color-edge', values };
  });
}
