import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { PlugZap, SearchX } from 'lucide-react';
import { Button, buttonClasses } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../ui/states.tsx';
import { MissingChunk, useReload } from './missing-chunk.ts';

/** A page that could not be loaded or drawn. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const reload = useReload(error);
  useTitle('Problem');
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">Problem</h1>
      {error instanceof MissingChunk ? (
        <div role="alert">
          <Notice icon={PlugZap} title="This page could not be loaded">
            <p>Weir cannot be reached. The page opens when the connection is back.</p>
            <Button className="mt-4" onClick={reload}>
              Try again
            </Button>
          </Notice>
        </div>
      ) : (
        <FailureNotice error={error} onRetry={retry} />
      )}
    </main>
  );
}

/** A page while its code is being loaded. */
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
  useTitle('Not found');
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">Not found</h1>
      <Notice icon={SearchX} title="Page not found">
        <p>The address may be wrong, or belong to a space that you are not a member of.</p>
        <Link to="/" className={`${buttonClasses()} mt-4`}>
          Open your space
        </Link>
      </Notice>
    </main>
  );
}
