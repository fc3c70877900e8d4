import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';

/** Changes the password, which ends all other sessions. */
export function PasswordCard() {
  const toast = useToast();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { mutateAsync, error, isPending } = useApiMutation('auth.changePassword', {
    reload: ['sessions.list'],
  });
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const isDone = await mutateAsync({ currentPassword: current, newPassword: next }).then(
      () => true,
      () => false,
    );
    if (!isDone) return;
    setCurrent('');
    setNext('');
    toast('Password changed. All other sessions have ended.');
  };
  return (
    <Card title="Password">
      <form onSubmit={onSubmit} className="flex flex-col gap-4">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least 8 characters."
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
        <FormFailure error={error} />
        <div>
          <Button type="submit" disabled={isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}
