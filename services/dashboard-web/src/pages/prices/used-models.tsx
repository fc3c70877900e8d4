import { formatCompact } from '../../format/number.ts';
import { describeText } from '../../text/marks.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { amountColumns, modelClasses } from './amount-columns.tsx';
import type { UsedModel } from './price.ts';

type PricedModel = UsedModel & { price: NonNullable<UsedModel['price']> };

/** The models of the last 30 days that have a price, and whose price it is. */
export function UsedModels({
  models,
  onSet,
}: {
  models: readonly UsedModel[];
  /** Undefined for those who cannot set prices. */
  onSet: ((model: UsedModel) => void) | undefined;
}) {
  const priced = models.filter((one): one is PricedModel => one.price !== null);
  if (priced.length === 0) return null;
  return (
    <Card title="Prices of models in use, last 30 days" isFlush>
      <Table
        caption="Prices of models in use"
        rows={priced}
        keyOf={({ model }) => model}
        columns={[...columns, ...(onSet === undefined ? [] : [setColumn(onSet)])]}
      />
    </Card>
  );
}

const columns: readonly Column<PricedModel>[] = [
  { title: 'Model', className: modelClasses, cell: ({ model }) => <ShownText text={model} /> },
  { title: 'Price', cell: ({ price }) => <Origin price={price} /> },
  { title: 'Tokens', isNumber: true, cell: ({ tokens }) => formatCompact(tokens) },
  ...amountColumns(({ price }: PricedModel) => price),
];

const origins = { space: 'this space', operator: 'operator', list: 'list price' } as const;

function Origin({ price: { origin, list } }: Pick<PricedModel, 'price'>) {
  if (list === null) return <Badge>{origins[origin]}</Badge>;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Badge tone="accent">{origins[origin]}</Badge>
      <span className="text-muted text-xs" title={list.source}>
        <ShownText text={list.model} />, {list.day}
      </span>
    </span>
  );
}

function setColumn(onSet: (model: UsedModel) => void): Column<PricedModel> {
  return {
    title: 'Actions',
    isPinned: true,
    isNumber: true,
    cell: (one) => (
      <Button
        size="small"
        aria-label={`Set a price for ${describeText(one.model)}`}
        onClick={() => onSet(one)}
      >
        Set a price
      </Button>
    ),
  };
}
