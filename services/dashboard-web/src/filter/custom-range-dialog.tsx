import { type FormEvent, useState } from 'react';
import { fromLocalTime, nameZone } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { Dialog, FormActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { localText, type TimeRange } from './time-range.ts';

/** Chooses the ends of a range, in the viewer's time zone. */
export function CustomRangeDialog({
  isOpen,
  initial,
  onClose,
  onChoose,
}: {
  isOpen: boolean;
  initial: TimeRange;
  onClose: () => void;
  onChoose: (range: { from: string; to: string }) => void;
}) {
  const { zone } = useSettings();
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Custom range"
      description={`Start times of events, in ${nameZone(zone)}. The end is not included.`}
    >
      <RangeForm
        initial={initial}
        onClose={onClose}
        onChoose={(range) => {
          onClose();
          onChoose(range);
        }}
      />
    </Dialog>
  );
}

function RangeForm({
  initial,
  onClose,
  onChoose,
}: {
  initial: TimeRange;
  onClose: () => void;
  onChoose: (range: { from: string; to: string }) => void;
}) {
  const { zone } = useSettings();
  const [start, setStart] = useState(() => localText(initial.from ?? Date.now(), zone));
  const [end, setEnd] = useState(() => localText(initial.to ?? Date.now(), zone));
  const [from, to] = [start, end].map((text) => fromLocalTime(Date.parse(`${text}Z`), zone));
  const isRange = from !== undefined && to !== undefined && from < to;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (isRange) onChoose({ from: String(from), to: String(to) });
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextField
        label="From"
        type="datetime-local"
        required
        value={start}
        onChange={(event) => setStart(event.target.value)}
      />
      <TextField
        label="To"
        type="datetime-local"
        required
        value={end}
        problem={isRange || start === '' || end === '' ? undefined : 'The end must be after the start.'}
        onChange={(event) => setEnd(event.target.value)}
      />
      <FormActions action="Show" onCancel={onClose} isDisabled={!isRange} />
    </form>
  );
}
