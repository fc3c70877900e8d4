import { Link, useLocation } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { describeFailure } from '../api/failure.ts';
import { Button, type ButtonLook } from './button.tsx';

/**
 * The form of a dialog, with its buttons. While `onSubmit` runs the form cannot be sent again; when it fails,
 * the form says why and stays as it is.
 */
export function Form({
  action,
  look = 'primary',
  onSubmit,
  onCancel,
  isDisabled = false,
  children,
}: {
  /** The text of the button that sends the form. */
  action: string;
  look?: ButtonLook;
  onSubmit: () => unknown;
  onCancel: () => void;
  isDisabled?: boolean;
  children: ReactNode;
}) {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setPending(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (thrown) {
      setError(thrown);
    }
    setPending(false);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      <FormFailure error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button look={look} type="submit" disabled={isDisabled || isPending}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** Why the API rejected a form. */
export function FormFailure({ error }: { error: unknown }) {
  const { href, pathname } = useLocation();
  if (error === undefined || error === null) return null;
  const { kind, message } = describeFailure(error);
  // A wrong password on the sign-in page is `signed-out` too.
  const hasEnded = kind === 'signed-out' && pathname.startsWith('/s/');
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad text-sm">
      {hasEnded ? (
        <>
          Your session has ended.{' '}
          <Link to="/sign-in" search={{ to: href }} className="underline">
            Sign in
          </Link>
        </>
      ) : (
        message
      )}
    </p>
  );
}
