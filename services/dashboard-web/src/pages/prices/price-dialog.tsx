import { useState } from 'react';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { Dialog, Form } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import {
  type AmountTexts,
  allTime,
  isPriceText,
  kinds,
  type Price,
  pricesChanged,
  readRates,
  toAmounts,
  writeRates,
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
  const [model, setModel] = useState(price.model ?? '');
  const [validFrom, setValidFrom] = useState(price.validFrom === allTime ? '' : (price.validFrom ?? ''));
  const [texts, setTexts] = useState(() => textsOf(price));
  const { mutateAsync } = useSpaceMutation('prices.set', pricesChanged);
  const set = async () => {
    const amounts = toAmounts(texts);
    if (amounts === undefined) return;
    await mutateAsync({ model, ...amounts, ...(validFrom !== '' && { validFrom }) });
    onClose();
  };
  return (
    <Form
      action="Set the price"
      onSubmit={set}
      onCancel={onClose}
      isDisabled={toAmounts(texts) === undefined}
    >
      <TextField
        label="Model"
        hint="As in the events; also finds it with a prefix, a date or a region."
        required
        maxLength={256}
        value={model}
        onText={setModel}
      />
      <AmountFields texts={texts} onChange={setTexts} />
      <TextField
        label="Other rates (optional)"
        hint="Of kinds, tiers and sizes of the input: input batch = 1.25, cacheWriteHour = 10, output priority >272000 = 90, audioInput = 40, webSearches = 10000, factor us = 1.1"
        value={texts.rates}
        problem={
          readRates(texts.rates) === undefined
            ? 'Enter rates such as input batch = 1.25, audioInput = 40.'
            : undefined
        }
        onText={(rates) => setTexts({ ...texts, rates })}
      />
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

function textsOf(price: Partial<Price>): AmountTexts {
  return {
    input: price.input ?? '',
    output: price.output ?? '',
    cacheRead: price.cacheRead ?? '',
    cacheWrite: price.cacheWrite ?? '',
    rates: writeRates(price.rates ?? {}),
  };
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
