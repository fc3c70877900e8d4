import { Columns3 } from 'lucide-react';
import { useState } from 'react';
import { attributesMax, keyCharsMax, readColumns, writeColumns } from '../../event-grid/chosen-columns.tsx';
import { columns } from '../../event-grid/columns.tsx';
import { useIsNarrow } from '../../event-grid/use-is-narrow.ts';
import { attributePrefix } from '../../filter/conditions.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { submits, TextField } from '../../ui/field.tsx';

/** Attributes offered, those that most events have first. Any other can be typed. */
const offeredMax = 12;

/** Chooses the columns of the list. Cards, in a narrow window, have none. */
export function ColumnsButton() {
  if (useIsNarrow()) return null;
  const description = `Up to ${attributesMax} of them are attributes.`;
  return (
    <DialogButton icon={Columns3} size="small" text="Columns" title="Columns" description={description}>
      {() => <Choice />}
    </DialogButton>
  );
}

function Choice() {
  const { search, set } = useFilter();
  const { names } = readColumns(search.columns);
  const { data = [] } = useSpaceQuery('events.facets', { fields: ['attribute'] });
  const chosen = names.filter((name) => name.startsWith(attributePrefix));
  const offered = data
    .flatMap(({ values }) => values.map(({ value }) => attributePrefix + value))
    .filter((name) => !chosen.includes(name))
    .slice(0, offeredMax);
  const isFull = chosen.length >= attributesMax;
  const toggle = (name: string) =>
    set({
      columns: writeColumns(names.includes(name) ? names.filter((one) => one !== name) : [...names, name]),
    });
  const box = (name: string, title: string) => (
    <label key={name} className="flex min-h-6 max-w-full items-center gap-1.5 text-sm">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-accent"
        checked={names.includes(name)}
        disabled={names.includes(name) ? names.length === 1 : isFull && name.startsWith(attributePrefix)}
        onChange={() => toggle(name)}
      />
      <ShownText text={title} className="truncate" />
    </label>
  );
  return (
    <div className="flex flex-col gap-4">
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-1 font-medium text-sm">Of every event</legend>
        {columns.map(({ id, title }) => box(id, title))}
      </fieldset>
      {chosen.length + offered.length > 0 && (
        <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
          <legend className="mb-1 font-medium text-sm">Attributes</legend>
          {[...chosen, ...offered].map((name) => box(name, name.slice(attributePrefix.length)))}
        </fieldset>
      )}
      <AttributeForm isFull={isFull} onAdd={(name) => !names.includes(name) && toggle(name)} />
    </div>
  );
}

/** For attributes that are not offered. */
function AttributeForm({ isFull, onAdd }: { isFull: boolean; onAdd: (name: string) => void }) {
  const [key, setKey] = useState('');
  const add = () => {
    onAdd(attributePrefix + key.trim());
    setKey('');
  };
  return (
    <form onSubmit={submits(add)} className="flex items-end gap-2">
      <TextField
        label="Another attribute"
        className="flex-1"
        maxLength={keyCharsMax}
        value={key}
        onText={setKey}
      />
      <Button type="submit" disabled={isFull || key.trim() === ''} text="Add" />
    </form>
  );
}
