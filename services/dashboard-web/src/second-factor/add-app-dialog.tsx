import { useQuery } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useState } from 'react';
import { apiQuery, useApiMutation } from '../api/query.ts';
import { FormFailure } from '../ui/confirm-dialog.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog, FormActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { FailureNotice, Loading } from '../ui/states.tsx';

/** Loaded with its encoder when an app is added. */
const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

interface Outcome {
  onClose: () => void;
  onAdded: () => void;
}

/** Adds an authenticator app: shows its secret, and asks for a first code. */
export function AddAppDialog({ isOpen, ...outcome }: Outcome & { isOpen: boolean }) {
  return (
    <Dialog isOpen={isOpen} onClose={outcome.onClose} title="Add an authenticator app">
      {isOpen && <AddAppForm {...outcome} />}
    </Dialog>
  );
}

function AddAppForm({ onClose, onAdded }: Outcome) {
  const proposed = useQuery({
    ...apiQuery('secondFactor.proposeTotp', undefined),
    // Each dialog has a secret of its own, which does not change while it is open.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const [code, setCode] = useState('');
  const { mutate, error, isPending } = useApiMutation('secondFactor.addTotp', {
    reload: ['secondFactor.list', 'me', 'sessions.list'],
  });
  if (proposed.error !== null) return <FailureNotice error={proposed.error} isSmall />;
  if (proposed.data === undefined) return <Loading rows={4} />;
  const { secret, uri, proposal } = proposed.data;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ proposal, code }, { onSuccess: onAdded });
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <p className="text-muted text-sm">Scan this with your app, or type the secret into it.</p>
      <div className="mx-auto size-48">
        <Suspense>
          <QrCode text={uri} label="QR code of the secret" />
        </Suspense>
      </div>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-md border border-line bg-sunken px-2.5 py-1.5 font-mono text-xs">
          {secret.replace(/(.{4})(?=.)/g, '$1 ')}
        </code>
        <CopyButton label="Copy the secret" text={secret}>
          Copy
        </CopyButton>
      </div>
      <TextField
        label="Code from the app"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
      <FormFailure error={error} />
      <FormActions action="Add the app" onCancel={onClose} isDisabled={isPending} />
    </form>
  );
}
