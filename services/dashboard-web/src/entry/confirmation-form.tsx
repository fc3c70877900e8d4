import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { answerWithPasskey } from '../api/passkey.ts';
import { callMutation, useApiMutation } from '../api/query.ts';
import { Button } from '../ui/button.tsx';
import { FormFailure } from '../ui/confirm-dialog.tsx';
import { FormActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { CodeField } from './code-field.tsx';
import type { SecondFactors } from './second-step.tsx';

export interface ConfirmationOutcome {
  onConfirmed: () => void;
  onCancel: () => void;
}

/** The password, with a code if the user has a second factor, or a passkey. */
export function ConfirmationForm({
  factors,
  onConfirmed,
  onCancel,
}: ConfirmationOutcome & { factors: SecondFactors }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { mutateAsync, error, isPending } = useApiMutation('auth.confirm');
  const hasFactor = factors.totp || factors.passkey;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutateAsync({ password, ...(hasFactor && { code }) }).then(onConfirmed, () => {});
  };
  return (
    <div className="flex flex-col gap-4">
      {factors.passkey && <PasskeyConfirmation onConfirmed={onConfirmed} />}
      <form onSubmit={onSubmit} className="flex flex-col gap-4">
        <TextField
          label="Your password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {hasFactor && <CodeField hasApp={factors.totp} value={code} onChange={setCode} />}
        <FormFailure error={error} />
        <FormActions action="Confirm" onCancel={onCancel} isDisabled={isPending} />
      </form>
    </div>
  );
}

function PasskeyConfirmation({ onConfirmed }: { onConfirmed: () => void }) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => callMutation('auth.confirmWithPasskey', await answerWithPasskey()),
    onSuccess: onConfirmed,
  });
  return (
    <div className="flex flex-col gap-3">
      <FormFailure error={error} />
      <Button disabled={isPending} onClick={() => mutate()}>
        <KeyRound aria-hidden />
        Confirm with a passkey
      </Button>
    </div>
  );
}
