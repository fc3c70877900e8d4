import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { ConfirmationContext } from '../api/confirmation.ts';
import { apiQuery, useApiMutation } from '../api/query.ts';
import { meQuery } from '../space/space.tsx';
import { Button, buttonClasses } from '../ui/button.tsx';
import { Dialog, Form } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { FailureNotice, Loading } from '../ui/loaded.tsx';
import { basePath } from '../url/page-values.ts';
import { keepReturnAddress } from './return-address.ts';
import { CodeField, PasskeyButton, type SecondFactors } from './second-step.tsx';

/** Repeats a refused change of the pages in it after an authentication. */
export function WithConfirmation({ children }: { children: ReactNode }) {
  const [waiting, setWaiting] = useState<((isConfirmed: boolean) => void)[]>([]);
  const isOpen = waiting.length > 0;
  const confirm = useCallback(
    () => new Promise<boolean>((resolve) => setWaiting((others) => [...others, resolve])),
    [],
  );
  const context = useMemo(() => ({ confirm, isOpen }), [confirm, isOpen]);
  const settle = (isConfirmed: boolean) => {
    for (const resolve of waiting) resolve(isConfirmed);
    setWaiting([]);
  };
  return (
    <>
      <ConfirmationContext value={context}>{children}</ConfirmationContext>
      <Dialog
        isOpen={isOpen}
        onClose={() => settle(false)}
        title="Confirm your identity"
        description="You signed in more than 15 minutes ago. Changes to API keys, members, roles and second factors need a recent sign-in."
        isOnTop
      >
        {isOpen && <ConfirmationMethod onConfirmed={() => settle(true)} onCancel={() => settle(false)} />}
      </Dialog>
    </>
  );
}

/** Users without a password or passkey authenticate at the OpenID provider. */
function ConfirmationMethod({ onConfirmed, onCancel }: ConfirmationOutcome) {
  const me = useQuery(meQuery);
  const methods = useQuery(apiQuery('auth.methods', undefined));
  const { href } = useLocation();
  const failure = me.error ?? methods.error;
  if (failure !== null) return <FailureNotice error={failure} isSmall />;
  if (me.data === undefined || methods.data === undefined) return <Loading />;
  const { password, sso } = methods.data;
  if (password && me.data.user.hasPassword) {
    const { secondFactors } = me.data.user;
    return <ConfirmationForm factors={secondFactors} onConfirmed={onConfirmed} onCancel={onCancel} />;
  }
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm">
        {sso === null
          ? 'Your account has no password. Ask the operator for a sign-in link.'
          : 'You return to this page after signing in. Then make the change again.'}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        {sso !== null && (
          <a
            className={buttonClasses('primary')}
            href={`${basePath}${sso.path}?again=1`}
            onClick={() => keepReturnAddress(href)}
          >
            Sign in again with {sso.name}
          </a>
        )}
      </div>
    </div>
  );
}

interface ConfirmationOutcome {
  onConfirmed: () => void;
  onCancel: () => void;
}

interface ConfirmationFormProps extends ConfirmationOutcome {
  factors: SecondFactors;
}

function ConfirmationForm({ factors, onConfirmed, onCancel }: ConfirmationFormProps) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { mutateAsync } = useApiMutation('auth.confirm');
  const hasFactor = factors.totp || factors.passkey;
  const confirm = () => mutateAsync({ password, ...(hasFactor && { code }) }).then(onConfirmed);
  return (
    <div className="flex flex-col gap-4">
      {factors.passkey && (
        <PasskeyButton text="Confirm with a passkey" path="auth.confirmWithPasskey" onDone={onConfirmed} />
      )}
      <Form action="Confirm" onSubmit={confirm} onCancel={onCancel}>
        <PasswordField label="Your password" autoFocus value={password} onText={setPassword} />
        {hasFactor && <CodeField hasApp={factors.totp} value={code} onChange={setCode} />}
      </Form>
    </div>
  );
}
