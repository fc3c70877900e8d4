import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, useApiMutation } from '../../api/query.ts';
import { EntryFrame, useEnter } from '../../entry/entry-frame.tsx';
import { keepReturnAddress } from '../../entry/return-address.ts';
import { PasskeySignIn, type SecondFactors, SecondStep } from '../../entry/second-step.tsx';
import type { Me } from '../../space/space.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Form, FormFailure } from '../../ui/dialog.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { useTitle } from '../../ui/page.tsx';
import { basePath } from '../../url/page-values.ts';
import { isOwnPath } from '../../url/search.ts';
import { useSearchTexts } from '../../url/use-search.ts';

/** Sign in with e-mail address and password, or with the link that `weir start` prints. */
export function SignInPage() {
  useTitle('Sign in');
  const { to } = useSearchTexts();
  const [token, setToken] = useState(readToken);
  const href = to !== undefined && isOwnPath(to) ? to : '/';
  return (
    <EntryFrame title="Sign in to Weir">
      {token === undefined ? (
        <SignInMethods href={href} />
      ) : (
        <LinkSignIn token={token} href={href} onGiveUp={() => setToken(undefined)} />
      )}
    </EntryFrame>
  );
}

function SignInMethods({ href }: { href: string }) {
  const { data } = useQuery(apiQuery('auth.methods', undefined));
  // Until the answer is there, and when it fails, the form is shown: most dashboards have no single sign-on.
  const { password = true, passkey = false, sso } = data ?? {};
  const enter = useEnter();
  const onSignedIn = (me: Me) => void enter(me, href);
  const [factors, setFactors] = useState<SecondFactors>();
  if (factors !== undefined)
    return <SecondStep factors={factors} onSignedIn={onSignedIn} onGiveUp={() => setFactors(undefined)} />;
  return (
    <div className="flex flex-col gap-5">
      {password && <PasswordForm onSignedIn={onSignedIn} onSecondStep={setFactors} />}
      {passkey && <PasskeySignIn onSignedIn={onSignedIn} />}
      {sso && (
        <a
          className={buttonClasses(password ? 'plain' : 'primary')}
          href={`${basePath}${sso.path}`}
          onClick={() => keepReturnAddress(href)}
        >
          Sign in with {sso.name}
        </a>
      )}
    </div>
  );
}

/** The token of a sign-in link is in the fragment, which browsers send to no server. */
function readToken(): string | undefined {
  return /^#link=([\w-]+)$/.exec(window.location.hash)?.[1];
}

interface PasswordFormProps {
  onSignedIn: (me: Me) => void;
  onSecondStep: (factors: SecondFactors) => void;
}

function PasswordForm({ onSignedIn, onSecondStep }: PasswordFormProps) {
  const { mutateAsync } = useApiMutation('auth.signIn');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const onSubmit = async () => {
    const outcome = await mutateAsync({ email, password });
    if ('secondFactors' in outcome) onSecondStep(outcome.secondFactors);
    else onSignedIn(outcome);
  };
  return (
    <div>
      <p className="mb-5 text-muted text-sm">
        Use the e-mail and password printed by <code className="font-mono text-xs">weir start</code>, or your
        own.
      </p>
      <Form action="Sign in" running="Signing in …" onSubmit={onSubmit}>
        <TextField
          label="E-mail address"
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onText={setEmail}
        />
        <PasswordField label="Password" value={password} onText={setPassword} />
      </Form>
    </div>
  );
}

/** Signs in with a link on a click, so that link scanners do not use it up. */
function LinkSignIn({ token, href, onGiveUp }: { token: string; href: string; onGiveUp: () => void }) {
  const enter = useEnter();
  const [factors, setFactors] = useState<SecondFactors>();
  const { mutateAsync, isPending, error } = useApiMutation('auth.redeemLink');
  const onSignIn = async () => {
    const outcome = await mutateAsync({ token }).catch(() => undefined);
    if (outcome === undefined) return;
    if ('secondFactors' in outcome) setFactors(outcome.secondFactors);
    else await enter(outcome, href);
  };
  if (factors !== undefined)
    return <SecondStep factors={factors} onSignedIn={(me) => void enter(me, href)} onGiveUp={onGiveUp} />;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">This link works once.</p>
      <FormFailure error={error} />
      <Button
        look="primary"
        disabled={isPending}
        onClick={() => void onSignIn()}
        text={isPending ? 'Signing in …' : 'Sign in with this link'}
      />
      <Button look="quiet" onClick={onGiveUp} text="Use a password" />
    </div>
  );
}
