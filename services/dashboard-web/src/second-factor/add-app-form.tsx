import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { apiQuery, type Output, useApiMutation } from '../api/query.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Form } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';

/** Loaded with its encoder when an app is added. */
const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

interface Outcome {
  onClose: () => void;
  onAdded: () => void;
}

/** Shows the secret, and asks for a first code. */
export function AddAppForm({ onClose, onAdded }: Outcome) {
  const query = useQuery({
    ...apiQuery('secondFactor.proposeTotp', undefined),
    // Each dialog has a secret of its own, which does not change while it is open.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Loaded query={query} rows={4} isSmall>
      {(proposed) => <ProposedApp {...proposed} onClose={onClose} onAdded={onAdded} />}
    </Loaded>
  );
}

function ProposedApp({
  secret,
  uri,
  proposal,
  onClose,
  onAdded,
}: Outcome & Output<'secondFactor.proposeTotp'>) {
  const [code, setCode] = useState('');
  const { mutateAsync } = useApiMutation('secondFactor.addTotp', {
    reload: ['secondFactor.list', 'me', 'sessions.list'],
  });
  return (
    <Form
      action="Add the app"
      onSubmit={() => mutateAsync({ proposal, code }).then(onAdded)}
      onCancel={onClose}
    >
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
        <CopyButton label="Copy the secret" text={secret} shown="Copy" />
      </div>
      <TextField
        label="Code from the app"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onText={setCode}
      />
    </Form>
  );
}
