import { Link, useLocation } from '@tanstack/react-router';
import { CircleAlert, LockKeyhole, type LucideIcon, PlugZap, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { describeFailure, type Failure } from '../api/failure.ts';
import { Button, buttonClasses } from './button.tsx';
import { classes } from './classes.ts';

/** A message in place of the content of a page or panel. */
export function Notice({
  icon: Icon,
  title,
  children,
  isSmall = false,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  isSmall?: boolean;
}) {
  return (
    <div className={classes('flex flex-col items-center gap-1 px-6 text-center', isSmall ? 'py-8' : 'py-20')}>
      <Icon aria-hidden className="mb-2 size-6 text-faint" strokeWidth={1.5} />
      <p className="font-medium">{title}</p>
      <div className="max-w-md text-sm text-muted">{children}</div>
    </div>
  );
}

const titles: Record<Failure['kind'], { icon: LucideIcon; title: string }> = {
  'signed-out': { icon: LockKeyhole, title: 'Your session has ended' },
  forbidden: { icon: LockKeyhole, title: 'Access denied' },
  missing: { icon: SearchX, title: 'Not found' },
  rejected: { icon: CircleAlert, title: 'Request rejected' },
  unavailable: { icon: PlugZap, title: 'Temporarily unavailable' },
  broken: { icon: CircleAlert, title: 'Something went wrong' },
};

/**
 * What a failed call means. Offers to sign in when the session has ended, and to try again where that can
 * help.
 */
export function FailureNotice({
  error,
  onRetry,
  isSmall = false,
}: {
  error: unknown;
  onRetry?: () => void;
  isSmall?: boolean;
}) {
  const { kind, message } = describeFailure(error);
  const canRetry = onRetry !== undefined && (kind === 'unavailable' || kind === 'broken');
  return (
    <div role="alert">
      <Notice {...titles[kind]} isSmall={isSmall}>
        {kind === 'signed-out' ? <SignInLink /> : <p>{message}</p>}
        {canRetry && (
          <Button className="mt-4" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Notice>
    </div>
  );
}

/** Signs in and comes back to the current address. */
export function SignInLink() {
  const { href } = useLocation();
  return (
    <>
      <p>Sign in to return to this page.</p>
      <Link to="/sign-in" search={{ to: href }} className={`${buttonClasses('primary')} mt-4`}>
        Sign in
      </Link>
    </>
  );
}

/** Placeholder bars while content is loading. */
export function Loading({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2.5 p-4">
      {Array.from({ length: rows }, (_, row) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike.
          key={row}
          className={classes('h-3.5 animate-breathe rounded-sm bg-line', bars[row % bars.length])}
        />
      ))}
    </div>
  );
}

const bars = ['w-11/12', 'w-8/12', 'w-10/12', 'w-7/12'];
