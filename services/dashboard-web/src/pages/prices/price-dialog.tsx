import { useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.tsx';
import { Dialog, Form } from '../../ui/dialog.tsx';
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
  const { mutateAsync } = useApiMutation('prices.set', pricesChanged);
  const set = async () => {
    const amounts = toAmounts(texts);
    if (amounts === undefined) return;
    await mutateAsync({ spaceId, model, ...amounts, ...(validFrom !== '' && { validFrom }) });
    onClose();
  };
  return (
    <Form
      action="Set the price"
      onSubmit={set}
      onCancel={onClose}
      isDisabled={Object.values(texts).some(isInvalid)}
    >
      <TextField
        label="Model"
        hint="The full model name, as in the events."
        required
        maxLength={256}
        value={model}
        onText={setModel}
      />
      <AmountFields texts={texts} onChange={setTexts} />
      <TextField
        label="First day, UTC (optional)"
        hint="Leave empty for all time."
        type="date"
        value={validFrom}
        onText={setValidFrom}
      />
    </Form>
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
          onText={(text) => onChange({ ...texts, [kind]: text.trim() })}
        />
      ))}
    </div>
  );
}

function isInvalid(text: string): boolean {
  return text !== '' && !isPriceText(text);
}
