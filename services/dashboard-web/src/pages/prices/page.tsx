import { CircleDollarSign, Plus } from 'lucide-react';
import { useState } from 'react';
import { formatCompact, formatCount } from '../../format/number.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { actionsColumn, type Column, NoValue, TableCard } from '../../table/table.tsx';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Loaded, Notice, together } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { allTime, type Price, type UsedModel } from './price.ts';
import { PriceDialog } from './price-dialog.tsx';
import { amountColumns, modelClasses, PriceTable } from './price-table.tsx';
import { UnpricedModels } from './unpriced-models.tsx';

/** List prices of models, the operator's prices, and those of the space. The last of these applies. */
export function PricesPage() {
  const { role } = useSpace();
  const query = together(useSpaceQuery('prices.list', {}), useSpaceQuery('prices.models', {}));
  const [edited, setEdited] = useState<Partial<Price>>();
  const canSet = hasRole(role, 'owner');
  return (
    <Page
      title="Prices"
      subtitle="US dollars per million tokens. A change also applies to past costs."
      actions={
        canSet && <Button icon={Plus} look="primary" onClick={() => setEdited({})} text="Set a price" />
      }
    >
      <Loaded query={query} isSmall>
        {([data, models]) => (
          <div className="flex flex-col gap-4">
            <UnpricedModels models={models} canSet={canSet} />
            <UsedModels
              models={models}
              onSet={
                canSet ? ({ model, price }) => setEdited({ ...price, model, validFrom: allTime }) : undefined
              }
            />
            <Card title="Configured prices" isFlush>
              {data.length === 0 ? (
                <Notice icon={CircleDollarSign} title="No configured prices" isSmall>
                  {canSet
                    ? 'Models have the list prices of their providers. Set a price to replace one.'
                    : 'Models have the list prices of their providers. An owner of the space can set prices.'}
                </Notice>
              ) : (
                <PriceTable prices={data} canSet={canSet} onEdit={setEdited} />
              )}
            </Card>
          </div>
        )}
      </Loaded>
      <PriceDialog price={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}

type PricedModel = UsedModel & { price: NonNullable<UsedModel['price']> };

interface UsedModelsProps {
  models: readonly UsedModel[];
  /** Undefined for those who cannot set prices. */
  onSet: ((model: UsedModel) => void) | undefined;
}

/** The models of the last 30 days that have a price, and whose price it is. */
function UsedModels({ models, onSet }: UsedModelsProps) {
  const priced = models.filter((one): one is PricedModel => one.price !== null);
  if (priced.length === 0) return null;
  return (
    <TableCard
      caption="Prices of models in use, last 30 days"
      rows={priced}
      keyOf={({ model }) => model}
      columns={[...columns, ...(onSet === undefined ? [] : [setColumn(onSet)])]}
    />
  );
}

const columns: readonly Column<PricedModel>[] = [
  { title: 'Model', className: modelClasses, cell: ({ model }) => <ShownText text={model} /> },
  { title: 'Price', cell: (one) => <Origin {...one} /> },
  { title: 'Tokens', isNumber: true, cell: ({ tokens }) => formatCompact(tokens) },
  ...amountColumns(({ price }: PricedModel) => price),
  { title: 'Reported', isExtra: true, cell: (one) => <Reported {...one} /> },
];

const origins = { space: 'this space', operator: 'operator', list: 'list price' } as const;

/** Whose price it is, and under which name it was found. */
function Origin({ model, price: { origin, model: matched, list } }: Pick<PricedModel, 'model' | 'price'>) {
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Badge tone={list === null ? undefined : 'accent'}>{origins[origin]}</Badge>
      {(list !== null || matched !== model) && (
        <span className="text-muted text-xs" title={list?.source}>
          <ShownText text={matched} />
          {list !== null && `, ${list.day}`}
        </span>
      )}
    </span>
  );
}

/** How many of the calls with a reported cost differ from the price by more than 1 %. */
function Reported({ reported: { compared, differing } }: Pick<UsedModel, 'reported'>) {
  if (compared === 0) return <NoValue />;
  return (
    <span
      className={differing > 0 ? 'text-warn' : 'text-muted'}
      title="Calls whose reported cost is more than 1% from that at the price, of the newest calls with a reported cost"
    >
      {formatCount(differing)} of {formatCount(compared)} differ
    </span>
  );
}

function setColumn(onSet: (model: UsedModel) => void): Column<PricedModel> {
  return actionsColumn((one) => (
    <Button
      size="small"
      aria-label={`Set a price for ${describeText(one.model)}`}
      onClick={() => onSet(one)}
      text="Set a price"
    />
  ));
}
