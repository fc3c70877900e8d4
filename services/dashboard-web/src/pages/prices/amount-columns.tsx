import type { Column } from '../../table/table.tsx';
import { type Amounts, withCents } from './price.ts';

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
  ];
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
