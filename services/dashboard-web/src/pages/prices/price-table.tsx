import { Pencil, Trash2 } from 'lucide-react';
import { formatCounted } from '../../format/number.ts';
import { withCents } from '../../format/priced.ts';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { actionsColumn, type Column, Faded, NoValue, Table } from '../../table/table.tsx';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Confirmed } from '../../ui/dialog.tsx';
import { type Amounts, allTime, type Price, priceOn, pricesChanged, writeRates } from './price.ts';

interface PriceTableProps {
  prices: readonly Price[];
  canSet: boolean;
  onEdit: (price: Price) => void;
}

/** All prices of the space and of the operator, current and past. */
export function PriceTable({ prices, canSet, onEdit }: PriceTableProps) {
  return (
    <Table
      caption="Prices, US dollars per million tokens"
      rows={prices}
      keyOf={({ model, validFrom, spaceId }) => `${model} ${validFrom} ${spaceId}`}
      columns={[
        ...validityColumns(prices),
        ...amountColumns((price: Price) => price),
        ...(canSet ? [actionsColumn((price: Price) => <PriceActions price={price} onEdit={onEdit} />)] : []),
      ]}
    />
  );
}

/** The model, and when and for whom a price applies. */
function validityColumns(prices: readonly Price[]): Column<Price>[] {
  const today = new Date().toISOString().slice(0, 10);
  const stateOf = (price: Price) => {
    if (priceOn(prices, price.model, today) === price) return <Badge tone="good">in force</Badge>;
    return price.validFrom > today ? <Badge tone="accent">later</Badge> : <Badge>replaced</Badge>;
  };
  return [
    {
      title: 'Model',
      className: modelClasses,
      cell: ({ model }) => <ShownText text={model} />,
    },
    { title: 'State', cell: stateOf },
    {
      title: 'From, UTC',
      cell: ({ validFrom }) => <Faded>{validFrom === allTime ? 'all time' : validFrom}</Faded>,
    },
    {
      title: 'Set by',
      cell: ({ spaceId }) => <Faded>{spaceId === null ? 'operator, for all spaces' : 'this space'}</Faded>,
    },
  ];
}

/** Buttons to change a price, and to remove one of the space. */
function PriceActions({ price, onEdit }: { price: Price; onEdit: (price: Price) => void }) {
  const { model, validFrom, spaceId } = price;
  const { mutateAsync } = useSpaceMutation('prices.remove', pricesChanged);
  const name = `the price of ${describeText(model)} from ${validFrom}`;
  return (
    <span className="inline-flex">
      <IconButton icon={Pencil} label={`Change ${name}`} onClick={() => onEdit(price)} />
      {spaceId === null ? (
        <span className="size-7" />
      ) : (
        <Confirmed
          button={(ask) => <IconButton icon={Trash2} label={`Remove ${name}`} onClick={ask} />}
          title="Remove the price"
          action="Remove"
          onConfirm={() => mutateAsync({ model, validFrom })}
        >
          <ShownText text={model} /> then has the operator’s price or the list price, if there is one. This
          also changes past costs.
        </Confirmed>
      )}
    </span>
  );
}

/** The column with the name of a model. */
export const modelClasses = 'min-w-36 max-w-72 font-medium [overflow-wrap:anywhere]';

/** A column for each kind of token. */
export function amountColumns<Row>(amountsOf: (row: Row) => Amounts): Column<Row>[] {
  const cached = (kind: 'cacheRead' | 'cacheWrite') => (row: Row) => {
    const { [kind]: price, input } = amountsOf(row);
    return <CachePrice price={price} input={input} />;
  };
  return [
    { title: 'Input', isNumber: true, cell: (row) => `$${withCents(amountsOf(row).input)}` },
    { title: 'Output', isNumber: true, cell: (row) => `$${withCents(amountsOf(row).output)}` },
    { title: 'Cache read', isNumber: true, cell: cached('cacheRead') },
    { title: 'Cache write', isNumber: true, cell: cached('cacheWrite') },
    { title: 'Other rates', isExtra: true, cell: (row) => <Rates rates={amountsOf(row).rates} /> },
  ];
}

/** Rates of kinds, tiers and sizes of the input: their number, and all on a hover. */
function Rates({ rates }: Pick<Amounts, 'rates'>) {
  const count = Object.keys(rates).length;
  if (count === 0) return <NoValue />;
  return (
    <span title={writeRates(rates)}>{count <= 2 ? writeRates(rates) : formatCounted(count, 'rate')}</span>
  );
}

function CachePrice({ price, input }: { price: string | null; input: string }) {
  if (price !== null) return `$${withCents(price)}`;
  return (
    <span
      className="text-muted"
      title={`No cache price: these tokens cost the input price, $${withCents(input)}`}
    >
      as input
    </span>
  );
}
