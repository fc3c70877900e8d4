import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { PlugZap } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';
import { FailureNotice, Notice } from '../ui/states.tsx';
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
