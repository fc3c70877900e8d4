import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createPasskey } from '../api/passkey.ts';
import { useApiMutation } from '../api/query.ts';
import { FormFailure } from '../ui/confirm-dialog.tsx';
import { Dialog, FormActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

interface Outcome {
  onClose: () => void;
  onAdded: () => void;
}

/** Adds a passkey, with a name by which the user knows it. */
export function AddPasskeyDialog({ isOpen, ...outcome }: Outcome & { isOpen: boolean }) {
  return (
    <Dialog isOpen={isOpen} onClose={outcome.onClose} title="Add a passkey">
      {isOpen && <AddPasskeyForm {...outcome} />}
    </Dialog>
  );
}

function AddPasskeyForm({ onClose, onAdded }: Outcome) {
  const [name, setName] = useState('');
  const add = useApiMutation('secondFactor.addPasskey', {
    reload: ['secondFactor.list', 'me', 'sessions.list'],
  });
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => add.mutateAsync({ ...(await createPasskey()), name }),
    onSuccess: onAdded,
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <TextField
        label="Name"
        hint="Where the passkey is stored, such as “laptop” or “security key”. The browser asks next."
        required
        autoFocus
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <FormFailure error={error} />
      <FormActions
        action={isPending ? 'Waiting for the browser …' : 'Create the passkey'}
        onCancel={onClose}
        isDisabled={isPending}
      />
    </form>
  );
}
