import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import {
  type AmountTexts,
  allTime,
  isPriceText,
  kinds,
  type Price,
  pricesChanged,
  toAmounts,
} from './price.ts';

/** Sets a price for this space. It replaces a price of the same model and day. `price` prefills the form. */
export function PriceDialog({ price, onClose }: { price: Partial<Price> | undefined; onClose: () => void }) {
  return (
    <Dialog
      isOpen={price !== undefined}
      onClose={onClose}
      title="Price of a model"
      description="US dollars per million tokens, such as 2.50. Applies to this space only. Without cache prices, cached tokens cost the input price."
    >
      {price !== undefined && <PriceForm price={price} onClose={onClose} />}
    </Dialog>
  );
}

function PriceForm({ price, onClose }: { price: Partial<Price>; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const [model, setModel] = useState(price.model ?? '');
  const [validFrom, setValidFrom] = useState(price.validFrom === allTime ? '' : (price.validFrom ?? ''));
  const [texts, setTexts] = useState<AmountTexts>({
    input: price.input ?? '',
    output: price.output ?? '',
    cacheRead: price.cacheRead ?? '',
    cacheWrite: price.cacheWrite ?? '',
  });
  const { mutateAsync, error, isPending } = useApiMutation('prices.set', pricesChanged);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const amounts = toAmounts(texts);
    if (amounts === undefined) return;
    const isDone = await mutateAsync({
      spaceId,
      model,
      ...amounts,
      ...(validFrom !== '' && { validFrom }),
    }).then(
      () => true,
      () => false,
    );
    if (isDone) onClose();
  };
  return (
    <form onSubmit={(event) => void onSubmit(event)} className="flex flex-col gap-4">
      <TextField
        label="Model"
        hint="The full model name, as in the events."
        required
        maxLength={256}
        value={model}
        onChange={(event) => setModel(event.target.value)}
        autoComplete="off"
      />
      <AmountFields texts={texts} onChange={setTexts} />
      <TextField
        label="First day, UTC (optional)"
        hint="Leave empty for all time."
        type="date"
        value={validFrom}
        onChange={(event) => setValidFrom(event.target.value)}
      />
      <FormFailure error={error} />
      <FormActions
        action="Set the price"
        onCancel={onClose}
        isDisabled={isPending || Object.values(texts).some(isInvalid)}
      />
    </form>
  );
}

function AmountFields({ texts, onChange }: { texts: AmountTexts; onChange: (texts: AmountTexts) => void }) {
  return (
    <div className="grid grid-cols-2 gap-3">
      {kinds.map(({ kind, label, isRequired }) => (
        <TextField
          key={kind}
          label={isRequired ? label : `${label} (optional)`}
          inputMode="decimal"
          required={isRequired}
          value={texts[kind]}
          problem={isInvalid(texts[kind]) ? 'Enter a decimal number such as 2.50.' : undefined}
          onChange={(event) => onChange({ ...texts, [kind]: event.target.value.trim() })}
          autoComplete="off"
        />
      ))}
    </div>
  );
}

function isInvalid(text: string): boolean {
  return text !== '' && !isPriceText(text);
}
