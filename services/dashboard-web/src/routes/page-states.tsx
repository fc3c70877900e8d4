import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { PlugZap, SearchX, UserX } from 'lucide-react';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import { SpaceGone } from '../space/space.tsx';
import { Button, buttonClasses } from '../ui/button.tsx';
import { FailureNotice, Loading, Notice } from '../ui/loaded.tsx';
import { useTitle } from '../ui/page.tsx';
import { basePath } from '../url/page-values.ts';

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const reload = useReload(error);
  const retry = () => {
    reset();
    void router.invalidate();
  };
  if (error instanceof SpaceGone) return <PageMissing />;
  return (
    <Centred title="Problem">
      {error instanceof MissingChunk ? (
        <div role="alert">
          <Notice icon={PlugZap} title="This page could not be loaded">
            <p>Weir cannot be reached. The page opens when the connection is back.</p>
            <Button className="mt-4" onClick={reload} text="Try again" />
          </Notice>
        </div>
      ) : (
        <FailureNotice error={error} onRetry={retry} />
      )}
    </Centred>
  );
}

export function PageLoading() {
  return (
    <main className="mx-auto w-full max-w-6xl px-4 pt-5 md:px-6">
      <h1 className="sr-only">Loading</h1>
      <Loading rows={8} />
    </main>
  );
}

/** An address without a page, or of a space that the user is no member of. */
export function PageMissing() {
  return (
    <Centred title="Not found">
      <Notice icon={SearchX} title="Page not found">
        <p>The address may be wrong, or belong to a space that you are not a member of.</p>
        <Link to="/" className={`${buttonClasses()} mt-4`}>
          Open your space
        </Link>
      </Notice>
    </Centred>
  );
}

export function NoSpacePage() {
  return (
    <Centred title="No space">
      <Notice icon={UserX} title="You are not a member of any space">
        <p>Ask the owner of a space to invite you, then reload this page.</p>
      </Notice>
    </Centred>
  );
}

function Centred({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">{title}</h1>
      {children}
    </main>
  );
}

/** The network is gone, or a newer Weir serves other files. */
class MissingChunk extends Error {}

/** At the browser's own error the router reloads the window: offline that is the browser's error page. */
export function loadPage<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch((cause) => {
      throw new MissingChunk(String(cause), { cause });
    });
}

const storageKey = 'weir.reloaded-for';
const retryMs = 5_000;

/**
 * Reloads the window as soon as the server answers: at once after an upgrade, otherwise when the network is
 * back.
 * @returns tries now, also when this part was already missing after a reload.
 */
function useReload(error: unknown): () => void {
  const isMissing = error instanceof MissingChunk;
  const retry = async (isForced: boolean) => {
    if (!isMissing) return;
    // Once for each part, so that a part that stays missing does not reload forever.
    if (!isForced && sessionStorage.getItem(storageKey) === error.message) return;
    if (!(await isReachable())) return;
    sessionStorage.setItem(storageKey, error.message);
    window.location.reload();
  };
  const onTime = useEffectEvent(() => void retry(false));
  useEffect(() => {
    if (!isMissing) return;
    onTime();
    const timer = setInterval(onTime, retryMs);
    window.addEventListener('online', onTime);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', onTime);
    };
  }, [isMissing]);
  return () => void retry(true);
}

/** A proxy's error page in its place would replace the dashboard, too. */
async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(`${basePath}/icon.svg`, { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
