import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useSearchTexts } from '../../url/use-search.ts';

/** Asks for the ids of the two events or traces. */
export function ChooseSides({ noun, a, b }: { noun: 'event' | 'trace'; a: string; b: string }) {
  const search = useSearchTexts();
  const navigate = useNavigate();
  const [ids, setIds] = useState({ a, b });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: '.', search: { ...search, a: ids.a.trim(), b: ids.b.trim() } });
  };
  return (
    <Card>
      <form onSubmit={onSubmit} className="flex max-w-lg flex-col gap-4">
        {(['a', 'b'] as const).map((name) => (
          <TextField
            key={name}
            label={`Id of the ${name === 'a' ? 'first' : 'second'} ${noun}`}
            value={ids[name]}
            required
            spellCheck={false}
            className="font-mono"
            onText={(text) => setIds({ ...ids, [name]: text })}
          />
        ))}
        <Button type="submit" look="primary" className="self-start">
          Compare
        </Button>
      </form>
    </Card>
  );
}
