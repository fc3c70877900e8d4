import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../api/query.ts';
import { useSpace } from '../space/space.ts';
import { FormFailure } from '../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

interface DialogState {
  isOpen: boolean;
  onClose: () => void;
}

/** Renames the current space. */
export function RenameSpaceDialog({ isOpen, onClose }: DialogState) {
  const { id: spaceId, name } = useSpace();
  const { mutateAsync, error, isPending } = useApiMutation('spaces.rename', { reload: ['me'] });
  const onName = async (next: string) => {
    await mutateAsync({ spaceId, name: next });
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Rename the space">
      {isOpen && (
        <NameForm
          first={name}
          action="Rename"
          onName={onName}
          error={error}
          isPending={isPending}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

/** Creates a space owned by the user, and opens it. */
export function CreateSpaceDialog({ isOpen, onClose }: DialogState) {
  const navigate = useNavigate();
  const { mutateAsync, error, isPending } = useApiMutation('spaces.create', { reload: ['me'] });
  const onName = async (name: string) => {
    const { spaceId } = await mutateAsync({ name });
    onClose();
    await navigate({ to: '/s/$spaceId', params: { spaceId } });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New space"
      description="A space has its own events, keys and members. You become its owner."
    >
      {isOpen && (
        <NameForm
          first=""
          action="Create"
          onName={onName}
          error={error}
          isPending={isPending}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function NameForm({
  first,
  action,
  onName,
  error,
  isPending,
  onClose,
}: {
  first: string;
  action: string;
  onName: (name: string) => Promise<void>;
  error: unknown;
  isPending: boolean;
  onClose: () => void;
}) {
  const [name, setName] = useState(first);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The form shows the mutation's error.
    void onName(name.trim()).catch(() => {});
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextField
        label="Name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoComplete="off"
      />
      <FormFailure error={error} />
      <FormActions action={action} onCancel={onClose} isDisabled={isPending || name.trim() === ''} />
    </form>
  );
}
