import { Link, useLocation } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { describeFailure } from '../api/failure.ts';
import { Dialog, FormActions } from './dialog.tsx';
import { TextField } from './field.tsx';

/** Asks for confirmation of a change that cannot be undone. With `typed` the user has to type that text. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  children,
  action,
  typed,
  onConfirm,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** The button's text. */
  action: string;
  typed?: string;
  onConfirm: () => Promise<unknown>;
}) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      {isOpen && (
        <ConfirmForm onClose={onClose} action={action} typed={typed} onConfirm={onConfirm}>
          {children}
        </ConfirmForm>
      )}
    </Dialog>
  );
}

function ConfirmForm({
  onClose,
  children,
  action,
  typed,
  onConfirm,
}: {
  onClose: () => void;
  children: ReactNode;
  action: string;
  typed?: string | undefined;
  onConfirm: () => Promise<unknown>;
}) {
  const [text, setText] = useState('');
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    setPending(true);
    try {
      await onConfirm();
      onClose();
    } catch (thrown) {
      setError(thrown);
      setPending(false);
    }
  };
  return (
    <form onSubmit={onSubmit} className="flex flex-col gap-4">
      <div className="text-muted text-sm">{children}</div>
      {typed !== undefined && (
        <TextField
          label={`Type “${typed}” to confirm`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          autoComplete="off"
        />
      )}
      <FormFailure error={error} />
      <FormActions
        action={action}
        onCancel={onClose}
        isDisabled={isPending || (typed !== undefined && text !== typed)}
        look="danger"
      />
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
