import { type FormEvent, useState } from 'react';
import type { Output } from '../api/paths.ts';
import { useApiMutation } from '../api/query.ts';
import type { Me } from '../space/me.ts';
import { Button } from '../ui/button.tsx';
import { FormFailure } from '../ui/form.tsx';
import { CodeField } from './code-field.tsx';
import { PasskeySignIn } from './passkey-sign-in.tsx';

/** The second factors with which a sign-in can go on. */
export type SecondFactors = Extract<Output<'auth.signIn'>, { secondFactors: unknown }>['secondFactors'];

/** The second step of a sign-in: a code or a passkey. */
export function SecondStep({
  factors,
  onSignedIn,
  onGiveUp,
}: {
  factors: SecondFactors;
  onSignedIn: (me: Me) => void;
  onGiveUp: () => void;
}) {
  const [code, setCode] = useState('');
  const { mutate, isPending, error } = useApiMutation('auth.giveCode');
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ code }, { onSuccess: onSignedIn });
  };
  return (
    <div className="flex flex-col gap-5">
      <p className="text-muted text-sm">Your account has a second factor.</p>
      {factors.passkey && <PasskeySignIn look="primary" onSignedIn={onSignedIn} />}
      <form onSubmit={onSubmit} className="flex flex-col gap-4">
        <CodeField hasApp={factors.totp} autoFocus={!factors.passkey} value={code} onChange={setCode} />
        <FormFailure error={error} />
        <Button look={factors.passkey ? 'plain' : 'primary'} type="submit" disabled={isPending}>
          {isPending ? 'Signing in …' : 'Sign in with the code'}
        </Button>
      </form>
      <Button look="quiet" onClick={onGiveUp}>
        Start again
      </Button>
    </div>
  );
}
