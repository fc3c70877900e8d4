import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callMutation, type Output, useApiMutation } from '../api/query.ts';
import { EntryFrame, useEnter } from '../entry/entry-frame.tsx';
import { meQuery } from '../space/space.tsx';
import { buttonClasses } from '../ui/button.tsx';
import { Form } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { useTitle } from '../ui/page.tsx';

/** The token is in the fragment of the address. */
export function InvitationPage() {
  useTitle('Invitation');
  const [token] = useState(takeToken);
  const invitation = useQuery({
    queryKey: ['invitations.look', token],
    queryFn: () => callMutation('invitations.look', { token }),
    retry: false,
  });
  return (
    <EntryFrame title="Accept the invitation">
      <Loaded query={invitation} rows={3} isSmall>
        {(data) => <Acceptance token={token} invitation={data} />}
      </Loaded>
    </EntryFrame>
  );
}

function Acceptance({ token, invitation }: { token: string; invitation: Output<'invitations.look'> }) {
  const { data: me } = useQuery({ ...meQuery, retry: false });
  const enter = useEnter();
  const { mutateAsync } = useApiMutation('invitations.accept');
  const [password, setPassword] = useState('');
  const { email, role, spaceName, hasAccount } = invitation;
  const isSelf = me?.user.email === email;
  const onSubmit = async () => {
    const accepted = await mutateAsync({ token, ...(isSelf ? {} : { password }) });
    sessionStorage.removeItem(storageKey);
    await enter(undefined, `/s/${accepted.spaceId}`);
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">
        Join <strong className="text-ink">{spaceName}</strong> as {role}, with the address {email}.
      </p>
      {hasAccount && !isSelf ? (
        <Link
          to="/sign-in"
          search={{ to: '/invitation' }}
          onClick={() => keepToken(token)}
          className={buttonClasses('primary')}
        >
          Sign in as {email} first
        </Link>
      ) : (
        <Form action="Join" onSubmit={onSubmit}>
          {!isSelf && <PasswordField label="Choose a password" isNew value={password} onText={setPassword} />}
        </Form>
      )}
    </div>
  );
}

const storageKey = 'weir.invitation';

/** The token from the fragment, or the one stored before the sign-in. No server sees it in a URL. */
function takeToken(): string {
  const kept = sessionStorage.getItem(storageKey) ?? '';
  return window.location.hash.slice(1) || kept;
}

function keepToken(token: string): void {
  sessionStorage.setItem(storageKey, token);
}
