import type { ErrorComponentProps } from '@tanstack/react-router';
import { useRouter } from '@tanstack/react-router';
import { useTitle } from '../ui/page.tsx';
import { FailureNotice } from '../ui/states.tsx';

/** A page that could not be loaded or drawn. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  useTitle('Problem');
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">Problem</h1>
      <FailureNotice
        error={error}
        onRetry={() => {
          reset();
          void router.invalidate();
        }}
      />
    </main>
  );
}
