import { Link, useLocation } from '@tanstack/react-router';
import { CircleAlert, LockKeyhole, type LucideIcon, PlugZap, SearchX, TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { describeFailure, type Failure, isTransient } from '../api/failure.ts';
import { formatClock } from '../format/time.ts';
import { Button, buttonClasses } from './button.tsx';
import { classes } from './classes.ts';

export interface Loadable<Data> {
  data: Data | undefined;
  /** Null while the last call did not fail. */
  error: unknown;
  dataUpdatedAt: number;
  refetch: () => unknown;
}

/** Shows data, or the loading or failed state. While the API is away data stay. */
export function Loaded<Data>({
  query: { data, error, dataUpdatedAt, refetch },
  rows,
  label,
  isSmall = false,
  frame = (state) => state,
  children,
}: {
  query: Loadable<Data>;
  /** Placeholders while loading. */
  rows?: number;
  /** The loading state's name for screen readers. */
  label?: string;
  isSmall?: boolean;
  /** Wraps the loading and the failed state. */
  frame?: (state: ReactNode) => ReactNode;
  children: (data: Exclude<Data, undefined>) => ReactNode;
}) {
  const failure = useLastFailure({ data, error });
  if (failure !== null && (data === undefined || !isTransient(failure)))
    return frame(<FailureNotice error={failure} onRetry={() => void refetch()} isSmall={isSmall} />);
  if (data === undefined) return frame(<Loading rows={rows} label={label} />);
  return (
    <>
      {failure !== null && <Outdated error={failure} atMs={dataUpdatedAt} />}
      {/* `undefined` was returned above, which TypeScript does not see in a generic type. */}
      {children(data as Exclude<Data, undefined>)}
    </>
  );
}

/** The failure of the last finished call: a query forgets its own while it is called again. */
function useLastFailure({ data, error }: { data: unknown; error: unknown }): unknown {
  const [last, setLast] = useState(error);
  useEffect(() => {
    if (error !== null || data !== undefined) setLast(error);
  }, [data, error]);
  return data === undefined ? (error ?? last) : error;
}

function Outdated({ error, atMs }: { error: unknown; atMs: number }) {
  return (
    <p
      role="alert"
      className="flex items-start gap-2 bg-warn-soft px-4 py-2 text-sm text-warn [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0"
    >
      <TriangleAlert aria-hidden />
      <span>
        {describeFailure(error).message} What is shown below was read at {formatClock(atMs).slice(0, 8)}.
      </span>
    </p>
  );
}

type DataOf<Query> = Query extends Loadable<infer Data> ? Exclude<Data, undefined> : never;

/** Several queries as one, which has data when all of them have. */
export function together<const Queries extends readonly Loadable<unknown>[]>(
  ...queries: Queries
): Loadable<{ -readonly [Place in keyof Queries]: DataOf<Queries[Place]> }> {
  const data = queries.map((query) => query.data);
  return {
    // The mapped tuple of the data, which `map` types as a plain array.
    data: data.includes(undefined) ? undefined : (data as never),
    error: queries.find(({ error }) => error !== null)?.error ?? null,
    dataUpdatedAt: Math.min(...queries.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => Promise.all(queries.map(({ refetch }) => refetch())),
  };
}

interface NoticeProps {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  isSmall?: boolean;
}

/** A message in place of the content of a page or panel. */
export function Notice({ icon: Icon, title, children, isSmall = false }: NoticeProps) {
  return (
    <div className={classes('flex flex-col items-center gap-1 px-6 text-center', isSmall ? 'py-8' : 'py-20')}>
      <Icon aria-hidden className="mb-2 size-6 text-faint" strokeWidth={1.5} />
      <p className="font-medium">{title}</p>
      <div className="max-w-md text-sm text-muted">{children}</div>
    </div>
  );
}

/** In place of the list of a filter that the address has wrong. */
export function InvalidFilter({ problem }: { problem: string }) {
  return (
    <Notice icon={SearchX} title="Invalid filter">
      {problem}
    </Notice>
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

interface FailureNoticeProps {
  error: unknown;
  onRetry?: () => void;
  isSmall?: boolean;
}

/** Offers to sign in when the session has ended, and to try again where that can help. */
export function FailureNotice({ error, onRetry, isSmall = false }: FailureNoticeProps) {
  const { kind, message } = describeFailure(error);
  const canRetry = onRetry !== undefined && (kind === 'unavailable' || kind === 'broken');
  return (
    <div role="alert">
      <Notice {...titles[kind]} isSmall={isSmall}>
        {kind === 'signed-out' ? <SignInLink /> : <p>{message}</p>}
        {canRetry && <Button className="mt-4" onClick={onRetry} text="Try again" />}
      </Notice>
    </div>
  );
}

/** Comes back to the current address. */
function SignInLink() {
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

export function Loading({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2.5 p-4">
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <div
          key={row}
          className={classes('h-3.5 animate-breathe rounded-sm bg-line', bars[row % bars.length])}
        />
      ))}
    </div>
  );
}

const bars = ['w-11/12', 'w-8/12', 'w-10/12', 'w-7/12'];
