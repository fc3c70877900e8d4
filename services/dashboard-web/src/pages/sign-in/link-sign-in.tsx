import { useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { type SecondFactors, SecondStep } from '../../entry/second-step.tsx';
import { useEnter } from '../../entry/use-enter.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';

/** Signs in with a link on a click, so that link scanners do not use it up. */
export function LinkSignIn({ token, href, onGiveUp }: { token: string; href: string; onGiveUp: () => void }) {
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
      <Button look="primary" disabled={isPending} onClick={() => void onSignIn()}>
        {isPending ? 'Signing in …' : 'Sign in with this link'}
      </Button>
      <Button look="quiet" onClick={onGiveUp}>
        Use a password
      </Button>
    </div>
  );
}
