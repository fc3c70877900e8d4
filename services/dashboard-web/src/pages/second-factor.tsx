import { EntryFrame, useEnter } from '../entry/entry-frame.tsx';
import { Factors } from '../second-factor/factors.tsx';
import { useMe } from '../space/space.tsx';
import { Button } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';
import { isOwnPath } from '../url/search.ts';
import { useSearchTexts } from '../url/use-search.ts';

/** A second factor has to be added before all other pages (SECOND_FACTOR_REQUIRED). */
export function SecondFactorPage() {
  useTitle('Second factor');
  const me = useMe();
  const { to } = useSearchTexts();
  const enter = useEnter();
  const href = to !== undefined && isOwnPath(to) ? to : '/';
  return (
    <EntryFrame title="Add a second factor">
      <p className="mb-5 text-muted text-sm">
        This installation requires a second factor. Add an authenticator app or a passkey to continue.
      </p>
      <Factors />
      {!me.user.mustEnrol && (
        <div className="mt-5 flex flex-col">
          <Button look="primary" onClick={() => void enter(me, href)} text="Continue" />
        </div>
      )}
    </EntryFrame>
  );
}
