import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Input, Output } from '../../api/paths.ts';
import { apiQuery } from '../../api/query.ts';
import { seriesColor } from '../../charts/colors.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import type { TimeSeries } from '../../charts/time-series.ts';
import { formatMoney, formatShare } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { nameGroup } from './series.ts';

/** Models with a bar of their own. */
const modelsShown = 7;

const formatAxis = (value: number) => formatMoney(value);

/** What the tokens of each model cost, and how many of them have a price. */
export function CostCard({
  input,
  groups,
  onZoom,
}: {
  input: Input<'charts.costs'>;
  /** The models of the other charts, in their order, where they are by model: a model has one colour on a page. */
  groups: readonly (string | null)[] | undefined;
  onZoom: (range: { from: number; to: number }) => void;
}) {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery({
    ...apiQuery('charts.costs', input),
    placeholderData: keepPreviousData,
  });
  const series = useMemo(() => (data === undefined ? [] : describeCosts(data, groups)), [data, groups]);
  if (error !== null) {
    return (
      <Card title="Cost">
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      </Card>
    );
  }
  if (data === undefined) {
    return (
      <Card title="Cost">
        <Loading />
      </Card>
    );
  }
  const { cost, pricedTokens, tokens } = data.total;
  return (
    <Card
      title="Cost"
      actions={cost !== null && <span className="font-medium">{formatMoney(Number(cost))}</span>}
    >
      {cost === null ? (
        <p className="py-10 text-center text-muted text-sm">
          {tokens === 0 ? 'No tokens in this range.' : 'No token of this range has a price.'}
          {tokens > 0 && (
            <Link
              to="/s/$spaceId/settings/prices"
              params={{ spaceId }}
              className="mt-1 block text-accent hover:underline"
            >
              Set prices
            </Link>
          )}
        </p>
      ) : (
        <>
          <TimeChart
            name="Cost by model"
            starts={data.starts}
            end={data.end}
            series={series}
            kind="bars"
            format={formatAxis}
            onZoom={onZoom}
          />
          <p className="mt-1 text-muted text-xs">
            {formatShare(tokens === 0 ? 1 : pricedTokens / tokens)} of the tokens have a{' '}
            <Link
              to="/s/$spaceId/settings/prices"
              params={{ spaceId }}
              className="text-accent underline decoration-line hover:decoration-current"
            >
              price
            </Link>
            .
          </p>
        </>
      )}
    </Card>
  );
}

/** The models of the other charts apart, or without those the costliest ones; all others together. */
function describeCosts(
  { starts, models }: Output<'charts.costs'>,
  groups: readonly (string | null)[] | undefined,
): TimeSeries[] {
  const priced = models.filter(({ cost }) => cost !== null);
  const costliest = () =>
    priced
      .toSorted((a, b) => Number(b.cost) - Number(a.cost))
      .slice(0, modelsShown)
      .map(({ model }) => model);
  const order = (groups ?? costliest()).filter((name) => name !== null);
  const fill = (some: typeof priced) => {
    const values = new Array<number>(starts.length).fill(0);
    for (const { bucket, cost } of some.flatMap(({ points }) => points)) {
      values[bucket] = (values[bucket] ?? 0) + Number(cost ?? 0);
    }
    return values;
  };
  const own = order.flatMap((name, place) => {
    const one = priced.find(({ model }) => model === name);
    return one ? [{ label: nameGroup(name), color: seriesColor(place), values: fill([one]) }] : [];
  });
  const others = priced.filter(({ model }) => model === null || !order.includes(model));
  if (others.length === 0) return own;
  return [...own, { label: 'All others', color: 'color-edge', values: fill(others) }];
}
