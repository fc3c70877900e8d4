import { X } from 'lucide-react';
import { useState } from 'react';
import { polled } from '../../api/failure.ts';
import type { Output } from '../../api/query.ts';
import { attributePrefix } from '../../filter/conditions.ts';
import { formatCounted, formatShare } from '../../format/number.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation, useSpaceQuery } from '../../space/use-space-query.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/dialog.tsx';
import { submits, TextField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Card } from '../../ui/page.tsx';

type Dimension = Output<'charts.dimensions'>[number];

const refreshMs = 2_000;

/** What statistics are kept by besides model, tool and source. */
export function DimensionsCard() {
  const query = useSpaceQuery(
    'charts.dimensions',
    {},
    polled((data) => data?.some(({ counted }) => counted < 1) === true && refreshMs),
  );
  return (
    <Card title="Dimensions">
      <p className="mb-3 max-w-3xl text-muted text-sm">
        Charts, costs and alerts can be grouped and filtered by users, agents and up to eight attributes, such
        as environment or tenant. Events that are already stored are counted in the background.
      </p>
      <Loaded query={query} isSmall>
        {(declared) => <Dimensions declared={declared} />}
      </Loaded>
    </Card>
  );
}

function Dimensions({ declared }: { declared: readonly Dimension[] }) {
  const { role } = useSpace();
  const { mutateAsync, error, isPending } = useSpaceMutation('spaces.setDimensions', {
    reload: ['charts.dimensions', 'spaces.get'],
  });
  const names = declared.map(({ name }) => name);
  const set = (dimensions: string[]) =>
    mutateAsync({ dimensions: dimensions as `${typeof attributePrefix}${string}`[] }).then(
      () => true,
      () => false,
    );
  const mayChange = hasRole(role, 'admin');
  return (
    <div className="flex flex-col gap-3">
      <ul className="flex flex-col gap-1">
        {declared.map((one) => (
          <li key={one.name} className="flex items-center gap-2 text-sm">
            <DimensionLine dimension={one} />
            {mayChange && (
              <Button
                icon={X}
                look="quiet"
                aria-label={`Remove ${nameDimension(one.name)}`}
                disabled={isPending}
                onClick={() => void set(names.filter((name) => name !== one.name))}
              />
            )}
          </li>
        ))}
      </ul>
      {mayChange ? (
        <>
          <DimensionForm names={names} isPending={isPending} onAdd={(name) => set([...names, name])} />
          <FormFailure error={error} />
        </>
      ) : (
        <p className="text-muted text-sm">An admin of the space can change them.</p>
      )}
    </div>
  );
}

interface DimensionFormProps {
  names: readonly string[];
  isPending: boolean;
  /** @returns whether it was added; otherwise what was typed stays. */
  onAdd: (name: string) => Promise<boolean>;
}

function DimensionForm({ names, isPending, onAdd }: DimensionFormProps) {
  const [key, setKey] = useState('');
  const add = () => onAdd(attributePrefix + key.trim()).then((isAdded) => isAdded && setKey(''));
  const missing = ['user', 'agent'].filter((name) => !names.includes(name));
  return (
    <form onSubmit={submits(add)} className="flex flex-wrap items-end gap-2">
      <TextField label="Attribute" className="w-56" maxLength={128} value={key} onText={setKey} />
      <Button type="submit" look="primary" disabled={isPending || key.trim() === ''} text="Add" />
      {missing.map((name) => (
        <Button
          key={name}
          disabled={isPending}
          onClick={() => void onAdd(name)}
          text={`Add ${nameDimension(name)}`}
        />
      ))}
    </form>
  );
}

function DimensionLine({ dimension: { name, values, counted } }: { dimension: Dimension }) {
  return (
    <>
      <ShownText text={nameDimension(name)} className="font-medium" />
      <span className="text-muted">
        {formatCounted(values, 'value')}
        {counted < 1 && `, ${formatShare(counted)} of older events counted`}
      </span>
    </>
  );
}

/** `users`, or the key of an attribute. */
export function nameDimension(name: string): string {
  if (name === 'user' || name === 'agent') return `${name}s`;
  return name.slice(attributePrefix.length);
}
