import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { EntryFrame } from '../../entry/entry-frame.tsx';
import { useEnter } from '../../entry/use-enter.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { useTitle } from '../../ui/page.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { LinkSignIn } from './link-sign-in.tsx';
import { isOwnPath } from './own-path.ts';

/** Sign in with e-mail address and password, or with the link that `npm start` prints. */
export function SignInPage() {
  useTitle('Sign in');
  const { to } = useSearchTexts();
  const [token, setToken] = useState(readToken);
  const href = to !== undefined && isOwnPath(to) ? to : '/';
  return (
    <EntryFrame title="Sign in to Weir">
      {token === undefined ? (
        <PasswordForm href={href} />
      ) : (
        <LinkSignIn token={token} href={href} onGiveUp={() => setToken(undefined)} />
      )}
    </EntryFrame>
  );
}

/** The token of a sign-in link is in the fragment, which browsers send to no server. */
function readToken(): string | undefined {
  return /^#link=([\w-]+)$/.exec(window.location.hash)?.[1];
}

function PasswordForm({ href }: { href: string }) {
  const enter = useEnter();
  const { mutateAsync, isPending, error } = useApiMutation('auth.signIn');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const me = await mutateAsync({ email, password }).catch(() => undefined);
    if (me !== undefined) await enter(me, href);
  };
  return (
    <>
      <p className="mb-5 text-muted text-sm">
        Use the e-mail and password printed by <code className="font-mono text-xs">npm start</code>, or your
        own.
      </p>
      <form onSubmit={onSubmit} className="flex flex-col gap-4">
        <TextField
          label="E-mail address"
          type="email"
          name="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <FormFailure error={error} />
        <Button look="primary" type="submit" disabled={isPending}>
          {isPending ? 'Signing in …' : 'Sign in'}
        </Button>
      </form>
    </>
  );
}
