import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { createPasskey } from '../api/passkey.ts';
import { apiQuery, type Output, type QueryPath, useApiMutation } from '../api/query.ts';
import { formatToMinute } from '../format/time.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Confirmed, Dialog, Form, FormFailure } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { AddAppForm } from './add-app-form.tsx';

/** What a change of the second factors changes, too. */
const reload: readonly QueryPath[] = ['secondFactor.list', 'me', 'sessions.list'];

export function Factors() {
  return (
    <Loaded query={useQuery(apiQuery('secondFactor.list', undefined))} rows={3} isSmall>
      {(list) => <FactorList list={list} />}
    </Loaded>
  );
}

function FactorList({ list }: { list: Output<'secondFactor.list'> }) {
  const { totp, passkeys, recoveryCodesLeft } = list;
  const [adding, setAdding] = useState<'app' | 'passkey'>();
  const codes = useApiMutation('secondFactor.renewRecoveryCodes', { reload });
  const close = () => setAdding(undefined);
  const onAdded = () => {
    close();
    // The first second factor comes with recovery codes.
    if (recoveryCodesLeft === 0) codes.mutate();
  };
  return (
    <div className="flex flex-col divide-y divide-line">
      <AppRow createdAt={totp?.createdAt} onAdd={() => setAdding('app')} />
      <PasskeyRows passkeys={passkeys} onAdd={() => setAdding('passkey')} />
      {(totp !== null || passkeys.length > 0) && (
        <Row
          title="Recovery codes"
          detail={`${recoveryCodesLeft} left. Each replaces the second factor once.`}
          action={
            <Button
              size="small"
              disabled={codes.isPending}
              onClick={() => codes.mutate()}
              text="Create new codes"
            />
          }
        />
      )}
      <FormFailure error={codes.error} />
      <Dialog isOpen={adding === 'app'} onClose={close} title="Add an authenticator app">
        <AddAppForm onClose={close} onAdded={onAdded} />
      </Dialog>
      <Dialog isOpen={adding === 'passkey'} onClose={close} title="Add a passkey">
        <AddPasskeyForm onClose={close} onAdded={onAdded} />
      </Dialog>
      <RecoveryCodesDialog codes={codes.data?.codes} onClose={codes.reset} />
    </div>
  );
}

function AppRow({ createdAt, onAdd }: { createdAt: string | undefined; onAdd: () => void }) {
  const { mutateAsync } = useApiMutation('secondFactor.removeTotp', { reload });
  return (
    <Row
      title="Authenticator app"
      detail={
        createdAt === undefined
          ? 'An app on your phone that shows a six-digit code.'
          : `Added ${formatToMinute(Date.parse(createdAt))}`
      }
      action={
        createdAt === undefined ? (
          <Button size="small" onClick={onAdd} text="Add an app" />
        ) : (
          <RemoveButton name="authenticator app" onConfirm={() => mutateAsync()} />
        )
      }
    />
  );
}

interface PasskeyRowsProps {
  passkeys: Output<'secondFactor.list'>['passkeys'];
  onAdd: () => void;
}

function PasskeyRows({ passkeys, onAdd }: PasskeyRowsProps) {
  const { data: methods } = useQuery(apiQuery('auth.methods', undefined));
  const { mutateAsync } = useApiMutation('secondFactor.removePasskey', { reload });
  const shortTime = (text: string) => formatToMinute(Date.parse(text));
  return (
    <>
      <Row
        title="Passkeys"
        detail={
          methods?.passkey === false
            ? 'Browsers offer them only with https and a host name (DASHBOARD_PUBLIC_URL), or at http://localhost.'
            : 'A fingerprint, a face or a PIN of this device, or a security key. A passkey can also replace the password.'
        }
        action={
          <Button size="small" disabled={methods?.passkey !== true} onClick={onAdd} text="Add a passkey" />
        }
      />
      {passkeys.map(({ id, name, createdAt, lastUsedAt }) => (
        <Row
          key={id}
          title={<ShownText text={name} />}
          detail={`Passkey, added ${shortTime(createdAt)}${lastUsedAt === null ? '' : `, last used ${shortTime(lastUsedAt)}`}`}
          action={<RemoveButton name={`passkey ${name}`} onConfirm={() => mutateAsync({ id })} />}
        />
      ))}
    </>
  );
}

function Row({ title, detail, action }: { title: ReactNode; detail: string; action: ReactNode }) {
  return (
    <div className="flex items-center gap-3 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium text-sm">{title}</p>
        <p className="text-muted text-xs">{detail}</p>
      </div>
      {action}
    </div>
  );
}

function RemoveButton({ name, onConfirm }: { name: string; onConfirm: () => Promise<unknown> }) {
  return (
    <Confirmed
      button={(ask) => (
        <Button size="small" look="danger" aria-label={`Remove the ${name}`} onClick={ask} text="Remove" />
      )}
      title={`Remove the ${name}?`}
      action="Remove"
      onConfirm={onConfirm}
    >
      You can no longer sign in with it. All your other sessions end.
    </Confirmed>
  );
}

/** The name is for the user. */
function AddPasskeyForm({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [name, setName] = useState('');
  const { mutateAsync } = useApiMutation('secondFactor.addPasskey', { reload });
  const add = async () => {
    await mutateAsync({ ...(await createPasskey()), name });
    onAdded();
  };
  return (
    <Form action="Create the passkey" onSubmit={add} onCancel={onClose}>
      <TextField
        label="Name"
        hint="Where the passkey is stored, such as “laptop” or “security key”. The browser asks next."
        required
        autoFocus
        value={name}
        onText={setName}
      />
    </Form>
  );
}

interface RecoveryCodesDialogProps {
  codes: readonly string[] | undefined;
  onClose: () => void;
}

/** New recovery codes. They are shown only here. */
function RecoveryCodesDialog({ codes, onClose }: RecoveryCodesDialogProps) {
  return (
    <Dialog
      isOpen={codes !== undefined}
      onClose={onClose}
      title="Your recovery codes"
      description="Keep them where you can find them without your phone. Each signs in once in place of the second factor. Weir stores only hashes and cannot show them again. Earlier codes no longer work."
    >
      <ul className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-4 py-3 font-mono text-sm sm:grid-cols-2">
        {codes?.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="mt-4 flex justify-end gap-2">
        <CopyButton label="Copy all codes" text={() => (codes ?? []).join('\n')} shown="Copy all" />
        <Button size="small" look="primary" onClick={onClose} text="I have saved them" />
      </div>
    </Dialog>
  );
}
