import { useMutation } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { answerWithPasskey } from '../api/passkey.ts';
import { callMutation } from '../api/query.ts';
import type { Me } from '../space/me.ts';
import { Button, type ButtonLook } from '../ui/button.tsx';
import { FormFailure } from '../ui/form.tsx';

export function PasskeySignIn({
  look = 'plain',
  onSignedIn,
}: {
  look?: ButtonLook;
  onSignedIn: (me: Me) => void;
}) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => callMutation('auth.signInWithPasskey', await answerWithPasskey()),
    onSuccess: onSignedIn,
  });
  return (
    <div className="flex flex-col gap-3">
      <FormFailure error={error} />
      <Button icon={KeyRound} look={look} disabled={isPending} onClick={() => mutate()}>
        Sign in with a passkey
      </Button>
    </div>
  );
}
