import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';

/** The name of the space, and its id. */
export function NameCard() {
  const { id: spaceId, name: current } = useSpace();
  const [name, setName] = useState(current);
  const toast = useToast();
  const { mutateAsync, error, isPending } = useApiMutation('spaces.rename', { reload: ['me', 'spaces.get'] });
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    await mutateAsync({ spaceId, name: name.trim() }).then(
      () => toast('The space is renamed.'),
      () => {},
    );
  };
  return (
    <Card title="Name">
      <form onSubmit={(event) => void onSubmit(event)} className="flex flex-col gap-3">
        <TextField
          label="Name of the space"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoComplete="off"
        />
        <FormFailure error={error} />
        <div className="flex items-center gap-2">
          <Button
            look="primary"
            type="submit"
            disabled={isPending || name.trim() === '' || name.trim() === current}
          >
            Rename
          </Button>
          <CopyButton label="Copy id of the space" text={spaceId}>
            Copy id
          </CopyButton>
        </div>
      </form>
    </Card>
  );
}
