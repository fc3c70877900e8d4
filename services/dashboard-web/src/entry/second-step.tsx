import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { answerWithPasskey } from '../api/passkey.ts';
import { callMutation, type Input, type Output, useApiMutation } from '../api/query.ts';
import type { Me } from '../space/space.tsx';
import { Button, type ButtonLook } from '../ui/button.tsx';
import { Form, FormFailure } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

export type SecondFactors = Extract<Output<'auth.signIn'>, { secondFactors: unknown }>['secondFactors'];

interface SecondStepProps {
  factors: SecondFactors;
  onSignedIn: (me: Me) => unknown;
  onGiveUp: () => void;
}

export function SecondStep({ factors, onSignedIn, onGiveUp }: SecondStepProps) {
  const [code, setCode] = useState('');
  const { mutateAsync } = useApiMutation('auth.giveCode');
  return (
    <div className="flex flex-col gap-5">
      <p className="text-muted text-sm">Your account has a second factor.</p>
      {factors.passkey && <PasskeySignIn look="primary" onSignedIn={onSignedIn} />}
      <Form
        action="Sign in with the code"
        running="Signing in …"
        look={factors.passkey ? 'plain' : 'primary'}
        onSubmit={() => mutateAsync({ code }).then(onSignedIn)}
      >
        <CodeField hasApp={factors.totp} autoFocus={!factors.passkey} value={code} onChange={setCode} />
      </Form>
      <Button look="quiet" onClick={onGiveUp} text="Start again" />
    </div>
  );
}

interface CodeFieldProps {
  hasApp: boolean;
  autoFocus?: boolean;
  value: string;
  onChange: (value: string) => void;
}

/** The field for a code of the authenticator app, or a recovery code. */
export function CodeField({ hasApp, autoFocus = false, value, onChange }: CodeFieldProps) {
  return (
    <TextField
      label={hasApp ? 'Code' : 'Recovery code'}
      name="code"
      hint={hasApp ? 'The six-digit code from your authenticator app, or a recovery code.' : undefined}
      autoComplete="one-time-code"
      autoCapitalize="off"
      spellCheck={false}
      required
      autoFocus={autoFocus}
      value={value}
      onText={onChange}
    />
  );
}

interface PasskeyButtonProps<Path extends PasskeyPath>
  extends Pick<ComponentProps<typeof Button>, 'look' | 'text'> {
  path: Path;
  onDone: (output: Output<Path>) => unknown;
}

type PasskeyPath = 'auth.signInWithPasskey' | 'auth.confirmWithPasskey';

/** Asks the browser for a passkey, and calls a procedure with its answer. */
export function PasskeyButton<Path extends PasskeyPath>({
  path,
  onDone,
  ...button
}: PasskeyButtonProps<Path>) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => callMutation(path, (await answerWithPasskey()) as Input<Path>),
    onSuccess: onDone,
  });
  return (
    <div className="flex flex-col gap-3">
      <FormFailure error={error} />
      <Button icon={KeyRound} disabled={isPending} onClick={() => mutate()} {...button} />
    </div>
  );
}

export function PasskeySignIn({ look, onSignedIn }: { look?: ButtonLook; onSignedIn: (me: Me) => unknown }) {
  return (
    <PasskeyButton
      look={look}
      text="Sign in with a passkey"
      path="auth.signInWithPasskey"
      onDone={onSignedIn}
    />
  );
}
