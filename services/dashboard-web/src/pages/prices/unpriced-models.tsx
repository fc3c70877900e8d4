import { useState } from 'react';
import { formatCompact, formatCounted } from '../../format/number.ts';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { type Column, Table } from '../../table/table.tsx';
import { describeText, ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/dialog.tsx';
import { inputClasses, submits } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import {
  type AmountTexts,
  isPriceText,
  kinds,
  noAmounts,
  pricesChanged,
  toAmounts,
  type UsedModel,
} from './price.ts';
import { modelClasses } from './price-table.tsx';

/** Models of the last 30 days without a price, which owners enter here. No cost includes their tokens. */
export function UnpricedModels({ models, canSet }: { models: readonly UsedModel[]; canSet: boolean }) {
  const [texts, setTexts] = useState<Readonly<Record<string, AmountTexts>>>({});
  const { mutateAsync, error, isPending } = useSpaceMutation('prices.set', pricesChanged);
  const unpriced = models.filter(({ price }) => price === null);
  if (unpriced.length === 0) return null;
  const textsOf = (model: string) => texts[model] ?? noAmounts;
  const filled = unpriced.flatMap(({ model }) => {
    const amounts = toAmounts(textsOf(model));
    return amounts === undefined ? [] : [{ model, ...amounts }];
  });
  const isIncomplete = unpriced.some(
    ({ model }) =>
      Object.values(textsOf(model)).some((text) => text !== '') && !filled.some((one) => one.model === model),
  );
  const onSubmit = async () => {
    // Each is stored by itself: those before a failure are priced, and leave the table.
    for (const price of filled) {
      if (!(await mutateAsync({ ...price }).then(isDone, isFailed))) return;
    }
  };
  const onType = (model: string, change: Partial<AmountTexts>) =>
    setTexts({ ...texts, [model]: { ...textsOf(model), ...change } });
  return (
    <Card title="Models without a price, last 30 days" isFlush>
      <form onSubmit={submits(onSubmit)}>
        <Table
          caption="Models without a price"
          rows={unpriced}
          keyOf={({ model }) => model}
          columns={[...columns, ...(canSet ? inputColumns(textsOf, onType) : [])]}
        />
        {canSet && (
          <div className="flex flex-wrap items-center gap-3 border-line border-t px-4 py-2">
            <Button
              look="primary"
              type="submit"
              disabled={filled.length === 0 || isIncomplete || isPending}
              text={`Set ${formatCounted(Math.max(1, filled.length), 'price')}`}
            />
            <span className="text-muted text-xs">
              US dollars per million tokens, for all time. Input and output are needed; cached tokens cost as
              much as input without a price of their own.
            </span>
            <FormFailure error={error} />
          </div>
        )}
      </form>
    </Card>
  );
}

const isDone = () => true;
const isFailed = () => false;

const columns: readonly Column<UsedModel>[] = [
  { title: 'Model', className: modelClasses, cell: ({ model }) => <ShownText text={model} /> },
  { title: 'Tokens', isNumber: true, cell: ({ tokens }) => formatCompact(tokens) },
];

function inputColumns(
  textsOf: (model: string) => AmountTexts,
  onType: (model: string, change: Partial<AmountTexts>) => void,
): Column<UsedModel>[] {
  return kinds.map(({ kind, label }) => ({
    title: label,
    isNumber: true,
    cell: ({ model }) => {
      const text = textsOf(model)[kind];
      return (
        <input
          aria-label={`${label} price of ${describeText(model)}`}
          aria-invalid={text !== '' && !isPriceText(text)}
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={(event) => onType(model, { [kind]: event.target.value.trim() })}
          className={`${inputClasses} min-w-20 max-w-28 text-right aria-invalid:border-bad-line`}
        />
      );
    },
  }));
}
