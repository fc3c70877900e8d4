import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, type Output, useApiMutation } from '../../api/query.ts';
import { EntryFrame, useEnter } from '../../entry/entry-frame.tsx';
import { keepReturnAddress } from '../../entry/return-address.ts';
import { PasskeySignIn, type SecondFactors, SecondStep } from '../../entry/second-step.tsx';
import type { Me } from '../../space/space.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Form } from '../../ui/dialog.tsx';
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
  const [factors, setFactors] = useState<SecondFactors>();
  const enter = useEnter();
  const href = to !== undefined && isOwnPath(to) ? to : '/';
  const onSignedIn = (me: Me) => enter(me, href);
  const onOutcome = (outcome: Outcome) =>
    'secondFactors' in outcome ? setFactors(outcome.secondFactors) : onSignedIn(outcome);
  const startAgain = () => {
    setFactors(undefined);
    setToken(undefined);
  };
  return (
    <EntryFrame title="Sign in to Weir">
      {factors !== undefined ? (
        <SecondStep factors={factors} onSignedIn={onSignedIn} onGiveUp={startAgain} />
      ) : token === undefined ? (
        <SignInMethods href={href} onSignedIn={onSignedIn} onOutcome={onOutcome} />
      ) : (
        <LinkSignIn token={token} onOutcome={onOutcome} onGiveUp={startAgain} />
      )}
    </EntryFrame>
  );
}

type Outcome = Output<'auth.signIn'>;

interface SignInMethodsProps {
  href: string;
  onSignedIn: (me: Me) => unknown;
  onOutcome: (outcome: Outcome) => unknown;
}

function SignInMethods({ href, onSignedIn, onOutcome }: SignInMethodsProps) {
  const { data } = useQuery(apiQuery('auth.methods', undefined));
  // Until the answer is there, and when it fails, the form is shown: most dashboards have no single sign-on.
  const { password = true, passkey = false, sso } = data ?? {};
  return (
    <div className="flex flex-col gap-5">
      {password && <PasswordForm onOutcome={onOutcome} />}
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

function PasswordForm({ onOutcome }: Pick<SignInMethodsProps, 'onOutcome'>) {
  const { mutateAsync } = useApiMutation('auth.signIn');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const onSubmit = () => mutateAsync({ email, password }).then(onOutcome);
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

interface LinkSignInProps extends Pick<SignInMethodsProps, 'onOutcome'> {
  token: string;
  onGiveUp: () => void;
}

/** Signs in with a link on a click, so that link scanners do not use it up. */
function LinkSignIn({ token, onOutcome, onGiveUp }: LinkSignInProps) {
  const { mutateAsync } = useApiMutation('auth.redeemLink');
  const onSubmit = () => mutateAsync({ token }).then(onOutcome);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">This link works once.</p>
      <Form action="Sign in with this link" running="Signing in …" onSubmit={onSubmit} />
      <Button look="quiet" onClick={onGiveUp} text="Use a password" />
    </div>
  );
}
